//! `crictl ps -a` as a table: which containers the node knows and whether they run, but neither exit code nor reason.

use crate::fact::{Container, Engine, Role, Status, What, Who, Witness};
use crate::seen::Form;

use super::{Reading, TextFormat, texts};

/// kubernetes-sigs/cri-tools cmd/crictl/container.go; the column POD is of 1.24, NAMESPACE of 1.31. Older ones head the first
/// column with `CONTAINER ID`.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "crictl-ps",
    starts: &["CONTAINER "],
    read,
    form: Form {
        name: "crictl ps as a table",
        how: "crictl ps -a",
        proves: "that a container ended, not how; what to ask for with crictl inspect",
    },
    samples: &[
        "CONTAINER           IMAGE               CREATED             STATE               NAME                ATTEMPT             POD ID              POD\n87d3992f84f74       5b1af6c7b2f5c       8 minutes ago       Exited              trainer             2                   7f14e9b1c0a2d       bert-0\n1fd06a3c9e551       f6b8a9c4d7e21       3 hours ago         Running             logger              0                   7f14e9b1c0a2d       bert-0\n",
        "CONTAINER ID        IMAGE               CREATED             STATE               NAME                ATTEMPT             POD ID\n87d3992f84f74       5b1af6c7b2f5c       8 minutes ago       Exited              trainer             0                   7f14e9b1c0a2d\n",
    ],
};

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let mut table: Option<texts::Columns<'_>> = None;
    for (number, line) in texts::numbered(text) {
        if line.starts_with("CONTAINER ") {
            let columns = texts::Columns::of(line);
            table = ["STATE", "NAME", "ATTEMPT", "POD ID"].iter().all(|heading| columns.has(heading)).then_some(columns);
            continue;
        }
        let Some(columns) = &table else { continue };
        let cell = |heading: &str| Some(columns.cell(line, heading)).filter(|cell| !cell.is_empty()).map(str::to_owned);
        let id = cell("CONTAINER").or_else(|| cell("CONTAINER ID"));
        let Some(id) = id.filter(|id| id.len() >= 12 && id.bytes().all(|b| b.is_ascii_hexdigit())) else {
            table = None;
            continue;
        };
        let mut container = Container::new(Engine::Kubernetes);
        container.status = match columns.cell(line, "STATE") {
            "Exited" => Status::Exited,
            "Running" => Status::Running,
            "Created" => Status::Created,
            _ => Status::Unknown,
        };
        container.restarts = columns.cell(line, "ATTEMPT").parse().ok();
        container.image = cell("IMAGE");
        let who = Who {
            container: Some(id),
            container_name: cell("NAME"),
            pod: cell("POD"),
            namespace: cell("NAMESPACE"),
            ..Who::role(Role::Main)
        };
        reading.say(Witness::Runtime, number, &who, None, What::Container(Box::new(container)), line);
    }
    reading.told()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_whom_and_no_code() {
        let entries = read(FORMAT.samples[0]).unwrap().entries;
        let who = &entries[0].claim.who;
        assert_eq!(
            (who.container.as_deref(), who.container_name.as_deref(), who.pod.as_deref()),
            (Some("87d3992f84f74"), Some("trainer"), Some("bert-0"))
        );
        let What::Container(container) = &entries[0].claim.what else { panic!("{entries:?}") };
        assert_eq!((container.status, container.exit_code, container.restarts), (Status::Exited, None, Some(2)));
        assert_eq!(entries.len(), 2);
        let docker = "CONTAINER ID   IMAGE     COMMAND   CREATED   STATUS                     PORTS   NAMES\n87d3992f84f74   a   \"b\"   1 hour ago   Exited (137) 2 hours ago           c\n";
        assert_eq!(read(docker), None);
    }
}
