//! Amazon ECS: `describe-tasks`, EventBridge's task state changes, the agent's task states, the task metadata endpoint and
//! task definitions.

use serde_json::Value;

use crate::fact::{Container, Engine, Limit, Role, Shm, Status, What, Who, Why};
use crate::seen::Form;
use crate::time::Stamp;
use crate::units::Bytes;

use super::{Field, Format, Reading, dev_shm};

/// The ECS API of 2014-11-13; the agent renames Docker's OOMKilled to `OutOfMemoryError` (amazon-ecs-agent, dockerapi).
pub(super) const FORMAT: Format = Format {
    id: "ecs-tasks",
    sniff,
    read,
    form: Form {
        name: "Amazon ECS tasks (JSON)",
        how: "aws ecs describe-tasks --cluster NAME --tasks ID",
        proves: "kill for memory, exit code, spot interruption; a task definition tells the size of /dev/shm",
    },
    samples: &[
        r#"{"tasks":[{"taskArn":"arn:aws:ecs:us-east-1:111122223333:task/app/d2fb878c83e987f3c23bfa6608b85dc5","containers":[{"name":"trainer","runtimeId":"d2fb878c83e987f3c23bfa6608b85dc5-3649130583","lastStatus":"STOPPED","exitCode":137,"reason":"OutOfMemoryError: Container killed due to memory usage","memory":"2048"}],"lastStatus":"STOPPED","launchType":"FARGATE","memory":"2048","startedAt":"2023-08-15T22:42:41.501000+00:00","stopCode":"EssentialContainerExited","stoppedAt":"2023-08-15T22:49:58.300000+00:00","stoppedReason":"Essential container in task exited"}],"failures":[]}"#,
        r#"{"cluster":"production","task":"arn:aws:ecs:ap-southeast-2:111122223333:task/production/af32ffbea9536b447eac7dbfad0a2cad","status":"STOPPED","reason":"","containers":[{"containerName":"webapp","runtimeId":"6035c41d6c54a56849a797dcfb424625073ef21b7db213fa9e1b551a28f667d0","reason":"OutOfMemoryError: Container killed due to memory usage","status":"STOPPED"}],"executionStoppedAt":"2026-09-11T06:43:59Z"}"#,
        r#"{"source":"aws.ecs","detail-type":"ECS Task State Change","detail":{"taskArn":"arn:aws:ecs:us-east-1:1:task/a/b","containers":[{"name":"trainer","exitCode":137,"lastStatus":"STOPPED"}],"lastStatus":"STOPPED","stopCode":"SpotInterruption"}}"#,
        r#"{"TaskARN":"arn:aws:ecs:us-west-2:1:task/default/158d1c8083dd49d6b527399fd6414f5c","KnownStatus":"STOPPED","Containers":[{"DockerId":"cd189a933e5849daa93386466019ab50","Name":"curl","KnownStatus":"STOPPED","ExitCode":137,"Limits":{"CPU":2,"Memory":128}}]}"#,
        r#"{"taskDefinition":{"family":"triton","containerDefinitions":[{"name":"triton","memory":30720}],"requiresCompatibilities":["FARGATE"]}}"#,
    ],
};

fn sniff(document: &Value) -> bool {
    let task = |value: &Value| {
        let arn = ["taskArn", "TaskARN", "task"]
            .iter()
            .any(|key| value.get(key).and_then(Value::as_str).is_some_and(|arn| arn.contains(":task/")));
        arn && (value.get("containers").is_some_and(Value::is_array) || value.get("Containers").is_some_and(Value::is_array))
    };
    task(document)
        || document.pointer("/tasks/0").is_some_and(task)
        || document.get("detail").is_some_and(task)
        || definition(document).is_some()
}

/// The task definition, bare or as `describe-task-definition` wraps it.
fn definition(document: &Value) -> Option<&'static str> {
    if document.pointer("/taskDefinition/containerDefinitions").is_some_and(Value::is_array) {
        return Some("taskDefinition");
    }
    document.get("containerDefinitions").is_some_and(Value::is_array).then_some("")
}

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    match definition(document) {
        Some("") => read_definition(&mut reading, &root),
        Some(key) => read_definition(&mut reading, &root.at(key)),
        None if root.at("tasks").is_told() => {
            for task in root.at("tasks").items() {
                read_task(&mut reading, &task);
            }
        }
        None if root.at("detail").is_object() => read_task(&mut reading, &root.at("detail")),
        None => read_task(&mut reading, &root),
    }
    reading
}

fn read_task(reading: &mut Reading, task: &Field<'_>) {
    let arn = task.any(&["taskArn", "TaskARN", "task"]).text().unwrap_or_default();
    let id = arn.rsplit('/').next().filter(|id| !id.is_empty()).map(str::to_owned);
    let finished = task.any(&["executionStoppedAt", "ExecutionStoppedAt", "stoppedAt", "stoppingAt"]).time();
    for one in task.any(&["containers", "Containers"]).items() {
        let who = Who {
            container: one.any(&["runtimeId", "DockerId"]).string(),
            container_name: one.any(&["name", "containerName", "Name"]).string(),
            job: id.clone(),
            ..Who::role(Role::Main)
        };
        let mut container = Container::new(Engine::Ecs);
        container.fargate = task.any(&["launchType", "LaunchType"]).text() == Some("FARGATE");
        let known = one.any(&["lastStatus", "status", "KnownStatus"]);
        container.status = match known.text() {
            Some("STOPPED" | "DEPROVISIONING") => Status::Exited,
            Some("RUNNING" | "RESOURCES_PROVISIONED" | "STOPPING") => Status::Running,
            Some("PENDING" | "PROVISIONING" | "CREATED" | "PULLED" | "NONE") => Status::Created,
            _ => Status::Unknown,
        };
        let code = one.any(&["exitCode", "ExitCode"]);
        container.exit_code = code.number();
        let reason = one.at("reason");
        let memory_error = reason.text().is_some_and(|text| text.starts_with("OutOfMemoryError"));
        container.oom_killed = memory_error.then_some(true);
        container.started = one.at("StartedAt").time().or_else(|| task.at("startedAt").time());
        container.finished = one.at("FinishedAt").time().or(finished).filter(|_| container.status != Status::Running);
        container.memory =
            limit(&one.at("memory")).or_else(|| limit(&one.at("Limits").at("Memory"))).or_else(|| limit(&task.at("memory")));
        container.restarts = one.any(&["restartCount", "RestartCount"]).count();
        container.image = one.any(&["image", "Image"]).string();
        let mut parts = vec![format!("{} {}", who.container_name.clone().unwrap_or_default(), known.text().unwrap_or_default())];
        parts.extend(container.exit_code.map(|code| format!("exitCode {code}")));
        parts.extend(reason.text().map(|text| format!("reason {text}")));
        let field = if reason.is_told() { reason.clone() } else { code };
        let when = container.finished;
        reading.claim(&field, &who, when, What::Container(Box::new(container)), parts.join(", "));
        if !memory_error {
            reading.remark(&reason, &who, when);
        }
    }
    let who = Who { job: id, ..Who::role(Role::Job) };
    stop(reading, task, &who, finished);
}

/// Why the whole task was stopped.
fn stop(reading: &mut Reading, task: &Field<'_>, who: &Who, when: Option<Stamp>) {
    let (code, reason) = (task.at("stopCode"), task.any(&["stoppedReason", "reason"]));
    let words = reason.text().unwrap_or_default();
    let stopped = |why| Some(What::Stopped { by: "ECS", why, signal: None });
    let what = match code.text() {
        _ if words.contains("health check") => stopped(Why::Probe),
        Some("SpotInterruption" | "TerminationNotice") => stopped(Why::Preemption),
        Some("UserInitiated" | "ServiceSchedulerInitiated") => stopped(Why::Request),
        Some("TaskFailedToStart") => Some(What::Infrastructure),
        _ if words.starts_with("Host EC2 (instance") => Some(What::Infrastructure),
        _ if words.starts_with("Your Spot Task was interrupted") => stopped(Why::Preemption),
        _ => None,
    };
    if let Some(what) = what {
        let field = if code.is_told() { code.clone() } else { reason.clone() };
        let text = format!("stopCode {}, stoppedReason {words}", code.text().unwrap_or("not told"));
        reading.claim(&field, who, when, what, text);
    }
}

/// Memory in MiB, as a number or a string.
fn limit(field: &Field<'_>) -> Option<Limit> {
    let mib = field.count()?;
    Some(if mib == 0 { Limit::Unlimited } else { Limit::Bytes(Bytes::mib(mib)) })
}

/// A task definition describes no run, but what its containers get.
fn read_definition(reading: &mut Reading, definition: &Field<'_>) {
    let host_ipc = definition.at("ipcMode");
    for one in definition.at("containerDefinitions").items() {
        let who = Who { container_name: one.at("name").string(), ..Who::role(Role::Main) };
        let name = who.container_name.clone().unwrap_or_default();
        let size = one.at("linuxParameters").at("sharedMemorySize");
        let mounted =
            one.at("linuxParameters").at("tmpfs").items().find(|tmpfs| dev_shm::is_dev_shm(tmpfs.at("containerPath").text()));
        let default = dev_shm::default_size(Engine::Ecs);
        let (field, shm, text) = match (mounted.and_then(|tmpfs| Some((tmpfs.clone(), tmpfs.at("size").count()?))), size.count())
        {
            (Some((tmpfs, mib)), _) => (tmpfs, Shm::Sized(Bytes::mib(mib)), format!("tmpfs of {mib} MiB at /dev/shm ({name})")),
            (None, _) if host_ipc.text() == Some("host") => (host_ipc.clone(), Shm::Host, format!("ipcMode host ({name})")),
            (None, Some(mib)) if mib > 0 => (size, Shm::Sized(Bytes::mib(mib)), format!("sharedMemorySize {mib} MiB ({name})")),
            _ => (one.clone(), Shm::Default(default), format!("no linuxParameters.sharedMemorySize, so {default} ({name})")),
        };
        reading.claim(&field, &who, None, What::ShmOption(shm), text);
        let memory = one.at("memory");
        if let Some(Limit::Bytes(bytes)) = limit(&memory) {
            reading.claim(&memory, &who, None, What::MemoryOption(bytes), format!("memory {bytes} ({name})"));
        }
    }
}
