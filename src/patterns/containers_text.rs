//! Docker, Podman, Compose, containerd and Nomad in text: events, `ps -a`, exit lines, failures to start.

use super::{Caps, Pattern};
use crate::fact::{Claim, Container, ContainerEvent, Engine, How, Role, Scope, Status, What, Who, Why, Witness};
use crate::units::Signal;

/// The value of one attribute in `(image=…, name=…, exitCode=137)`.
fn attribute<'a>(list: &'a str, key: &str) -> Option<&'a str> {
    list.split(", ").find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

fn event(c: &Caps<'_>) -> Vec<Claim> {
    let list = c.get("attributes").unwrap_or_default();
    let code = || attribute(list, "exitCode").or_else(|| attribute(list, "containerExitCode"))?.parse().ok();
    let event = match c.get("action") {
        Some("oom") => ContainerEvent::Oom,
        Some("start") => ContainerEvent::Started,
        Some("stop") => ContainerEvent::Stopped,
        Some("die" | "died") => ContainerEvent::Died(code()),
        Some("exec_die" | "exec_died") => ContainerEvent::ExecDied(code()),
        Some("kill") => match attribute(list, "signal").and_then(|number| number.parse().ok()) {
            Some(number) => ContainerEvent::Kill(Signal(number)),
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let who =
        Who { container: c.text("id"), container_name: attribute(list, "name").map(str::to_owned), ..Who::role(Role::Main) };
    vec![Claim::new(What::Event(event), who)]
}

fn row(c: &Caps<'_>) -> Vec<Claim> {
    let status = match c.get("state") {
        Some("Exited") => Status::Exited,
        Some("Restarting") => Status::Restarting,
        Some("Created") => Status::Created,
        Some("Up") => Status::Running,
        _ => return Vec::new(),
    };
    // Podman prints the command without quotation marks.
    let engine = if c.get("quote").is_some() || c.get("service").is_some() { Engine::Docker } else { Engine::Podman };
    let image = c.text("image").or_else(|| c.text("image2"));
    let container = Container { status, exit_code: c.num("code"), image, ..Container::new(engine) };
    let container_name = c.text("name").or_else(|| c.text("name2"));
    let who = Who { container: c.text("id"), container_name, ..Who::role(Role::Main) };
    vec![Claim::new(What::Container(Box::new(container)), who)]
}

/// The end of a Nomad task.
fn nomad_end(c: &Caps<'_>) -> Vec<Claim> {
    let Some(code) = c.num("code") else { return Vec::new() };
    let hint = c.get("guess").is_some();
    let mut claims = vec![Claim::new(What::Ended { how: How::Code(code), hint }, Who::role(Role::Main))];
    if c.get("oom").is_some() {
        let oom = What::OomReported { by: "Nomad", scope: Scope::Cgroup };
        claims.push(Claim::new(oom, Who::role(Role::Main)));
    }
    claims
}

pub(super) const TABLE: &[Pattern] = &[
    // moby daemon/events and podman libpod/events; the envelope may leave Podman's zone before the words.
    Pattern {
        id: "engine/event",
        witness: Witness::Runtime,
        stems: &[
            "container oom ",
            "container die",
            "container kill ",
            "container stop ",
            "container start ",
            "container exec_die",
        ],
        regex: r"^\s*(?:[\dTZ:.+-]+ |UTC |m=\S+ )*container (?<action>oom|died?|kill|stop|start|exec_died?)(?:: .*)? (?<id>[0-9a-f]{64}) \((?<attributes>.*)\)\s*$",
        read: event,
        samples: &[
            "container oom 47a8cdee83b9b0e4d687b5ad2e24feed4245d2038aac48f697fea7c3289a6195 (image=lab-c:busy, name=lab-c-d26v2-exec-oom)",
            "2026-12-01T06:58:43.286944589Z container die 87ba10d10738fd6cfd1aa41395b0b13440e0eafa44ceced1a51b99f80f1574d5 (execDuration=6, exitCode=137, image=lab-c:busy, name=lab-c-d26v2-docker-kill)",
            "container kill 87ba10d10738fd6cfd1aa41395b0b13440e0eafa44ceced1a51b99f80f1574d5 (image=lab-c:busy, name=lab-c-d26v2-docker-kill, signal=9)",
            "container exec_die 47a8cdee83b9b0e4d687b5ad2e24feed4245d2038aac48f697fea7c3289a6195 (execID=b168b2bb06440c885f54f4524cf54580b4bd6d6513d0257cdd3f53a810ba04d9, exitCode=137, image=lab-c:busy, name=lab-c-d26v2-exec-oom)",
            "2026-12-01 07:17:40.919917218 +0000 UTC m=+10.407994329 container died bef6a95debc60f127e316856b5306c3a6ef94f02fa22d60bc45b5260a3e784fe (image=localhost/lab-c:busy, name=lab-c-podman54v2-oom-group)",
            "2026-12-01 07:16:22.504038997 +0000 UTC container died c181180e36bc1a13f8f2d22db08a394d0cf5ad78f727e7edd045a5d83bb74431 (image=localhost/lab-c:busy, name=lab-c-podman54v2-oom-main)",
        ],
        near_misses: &[
            "container create 47a8cdee83b9b0e4d687b5ad2e24feed4245d2038aac48f697fea7c3289a6195 (image=lab-c:busy, name=lab-c-d26v2-exec-oom)",
            "container oom <64hex> (image=<img>, name=<name>)",
        ],
    },
    // `docker ps -a`, `podman ps -a` and `docker compose ps -a`; columns stand at least two blanks apart.
    Pattern {
        id: "engine/ps",
        witness: Witness::Runtime,
        stems: &[
            " Exited (",
            " Restarting (",
            "  Up 1",
            "  Up 2",
            "  Up 3",
            "  Up 4",
            "  Up 5",
            "  Up 6",
            "  Up 7",
            "  Up 8",
            "  Up 9",
            "  Up A",
            "  Up L",
            "  Created  ",
        ],
        regex: r#"^(?:(?<id>[0-9a-f]{12}(?:[0-9a-f]{52})?)\s{2,}(?<image>\S+)\s{2,}(?:(?<quote>")|[^"\s]).*?\sago\s{2,}|(?<name2>[\w.-]+)\s{2,}(?<image2>\S+)\s{2,}"[^"]*"\s{2,}(?<service>[\w.-]+)\s{2,}\S.*?\sago\s{2,})(?<state>Exited|Restarting|Created|Up)(?: \((?<code>\d+)\))?(?: \S+)*?(?:\s{2,}(?:\S*\d->?\S.*?\s{2,}|\d+/\w+(?:, \S+)*\s{2,})?(?<name>[\w.-]+)?)?\s*$"#,
        read: row,
        samples: &[
            "3c0e9f74bcf1   lab-c:busy   \"lab abort\"   2 seconds ago   Exited (134) 1 second ago             lab-c-abort-init",
            "96f12da72a4f   lab-c:busy   \"lab anon 6000\"   About a minute ago   Exited (137) 8 seconds ago             lab-c-d26v2-oom-host-global",
            "c181180e36bc  localhost/lab-c:busy  lab anon 400  13 seconds ago  Exited (137) 10 seconds ago              lab-c-podman54v2-oom-main",
            "comp-loader-1    lab-c:busy   \"lab shm 200\"    loader    57 seconds ago   Exited (135) 16 seconds ago   ",
            "0a1b2c3d4e5f   redis:7   \"docker-entrypoint.s…\"   2 hours ago   Up 2 hours   0.0.0.0:6379->6379/tcp   cache",
        ],
        near_misses: &[
            "CONTAINER ID   IMAGE        COMMAND       CREATED         STATUS                      PORTS     NAMES",
            "the container shows Exited (137) 3 minutes ago",
        ],
    },
    // docker/compose pkg/compose/printer.go; v1 joined project, service and number with `_`. `docker compose up` itself
    // returns 0 all the same.
    Pattern {
        id: "compose/exit",
        witness: Witness::Arithmetic,
        stems: &[" exited with code "],
        regex: r"^(?<name>\w[\w.]*[-_][\w.-]*) exited with code (?<code>[1-9]\d*)(?: \(restarting\))?\s*$",
        read: |c| {
            let Some(code) = c.num("code") else { return Vec::new() };
            let who = Who { container_name: c.text("name"), ..Who::role(Role::Main) };
            vec![Claim::new(What::Ended { how: How::Code(code), hint: false }, who)]
        },
        samples: &[
            "trainer-1 exited with code 137",
            "proj_trainer_1 exited with code 135",
            "a1b2c3d4e5-algo-1-q7x2k exited with code 1",
            "trainer-1 exited with code 137 (restarting)",
        ],
        near_misses: &[
            "bigshm-1 exited with code 0",
            "Global rank 0 (PID 2155) exited with code 1",
            "Process exited with code 137",
        ],
    },
    // docker compose up, v1 and v2, after Ctrl-C: it stops every service, and kills what is not gone after ten seconds.
    Pattern {
        id: "compose/stopping",
        witness: Witness::Supervisor,
        stems: &["Gracefully stopping...", "Gracefully Stopping..."],
        regex: r"^(?:\^C)?\s*Gracefully [Ss]topping\.\.\. \(?press Ctrl\+C again to force\)?\s*$",
        read: |_| {
            vec![Claim::new(What::Stopped { by: "docker compose", why: Why::Request, signal: None }, Who::role(Role::Main))]
        },
        samples: &[
            "^CGracefully stopping... (press Ctrl+C again to force)",
            "Gracefully Stopping... press Ctrl+C again to force",
        ],
        near_misses: &["Gracefully stopping... the trainer"],
    },
    // containerd's events as `ctr events` prints them: an `id` unlike `container_id` is an exec.
    Pattern {
        id: "containerd/oom",
        witness: Witness::Runtime,
        stems: &["/tasks/oom {"],
        regex: r#"/tasks/oom \{"container_id":"(?<id>[\w.-]+)"\}"#,
        read: |c| vec![Claim::new(What::Event(ContainerEvent::Oom), Who { container: c.text("id"), ..Who::default() })],
        samples: &[
            "2026-12-01 06:58:41.1 +0000 UTC moby /tasks/oom {\"container_id\":\"47a8cdee83b9b0e4d687b5ad2e24feed4245d2038aac48f697fea7c3289a6195\"}",
        ],
        near_misses: &["/tasks/oom {\"container_id\":\"<id>\"}"],
    },
    Pattern {
        id: "containerd/exit",
        witness: Witness::Runtime,
        stems: &["/tasks/exit {"],
        regex: r#"/tasks/exit \{"container_id":"(?<container>[\w.-]+)","id":"(?<id>[\w.-]+)","pid":(?<pid>\d+)(?:,"exit_status":(?<code>\d+))?"#,
        read: |c| {
            // protojson leaves a zero out.
            let code = c.num("code").or(Some(0));
            let whole = c.get("container") == c.get("id");
            let event = if whole { ContainerEvent::Died(code) } else { ContainerEvent::ExecDied(code) };
            vec![Claim::new(What::Event(event), Who { container: c.text("container"), ..Who::host(c.num("pid"), None) })]
        },
        samples: &[
            "2026-12-01 06:58:43.2 +0000 UTC moby /tasks/exit {\"container_id\":\"47a8cdee83b9\",\"id\":\"47a8cdee83b9\",\"pid\":4711,\"exit_status\":137,\"exited_at\":\"2026-12-01T06:58:43.2Z\"}",
        ],
        near_misses: &["/tasks/exit {\"container_id\":\"<id>\",\"id\":\"<id or exec id>\"}"],
    },
    // runc and the daemons: the program never ran.
    Pattern {
        id: "engine/not-started",
        witness: Witness::Runtime,
        stems: &[
            "executable file not found in $PATH",
            "Error response from daemon: ",
            "Error: unable to start container",
            "invalid argument \"",
        ],
        regex: r#"^(?:(?:docker: )?invalid argument "[^"]*" for "(?:-\w, )?--[\w-]+" flag: .*|(?:docker|podman|Error|ERROR|Cannot start service \S+)(?:: |\s)(?:.*)?(?:exec: "[^"]+": (?:executable file not found in \$PATH|stat [^:]+: no such file or directory|permission denied)|pull access denied for|manifest (?:for \S+ not found|unknown)|could not select device driver|no space left on device).*|(?:starting container process caused: )?exec: "[^"]+": executable file not found in \$PATH.*)$"#,
        read: |_| vec![Claim::new(What::Infrastructure, Who::role(Role::Main))],
        samples: &[
            "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"nosuch\": executable file not found in $PATH: unknown.",
            "docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].",
            "invalid argument \"8GBB\" for \"--shm-size\" flag: invalid size: '8GBB'",
        ],
        near_misses: &[
            "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown.",
            "bash: nosuch: executable file not found in $PATH",
        ],
    },
    // `nomad alloc status`: the docker driver writes `OOM Killed` for Docker's flag (0.7.1 and later). Builds of 1.3.0 made up
    // `OOM Killed (137)` for every 137 (hashicorp/nomad#12735).
    Pattern {
        id: "nomad/terminated",
        witness: Witness::Supervisor,
        stems: &[" Exit Code: "],
        regex: r#"^\s*(?:\S+\s+)?Terminated\s+Exit Code: (?<code>[1-9]\d*)(?:, Signal: \d+)?(?:, Exit Message: "(?:(?<oom>OOM Killed)|(?<guess>OOM [Kk]illed)?[^"]*)")?\s*$"#,
        read: nomad_end,
        samples: &[
            "2022-04-21T15:32:50Z  Terminated  Exit Code: 137, Exit Message: \"OOM Killed (137)\"",
            "2024-06-03T10:41:12Z  Terminated  Exit Code: 137, Exit Message: \"OOM Killed\"",
            "2019-08-01T15:15:01Z  Terminated      Exit Code: 137, Exit Message: \"Docker container exited with non-zero exit code: 137\"",
        ],
        near_misses: &["2022-04-21T15:32:50Z  Terminated  Exit Code: 0"],
    },
    Pattern {
        id: "nomad/killing",
        witness: Witness::Supervisor,
        stems: &["before force killing"],
        regex: r"^\s*(?:\S+\s+)?Killing\s+Sent interrupt\. Waiting \S+ before force killing\s*$",
        read: |_| vec![Claim::new(What::Stopped { by: "Nomad", why: Why::Request, signal: None }, Who::role(Role::Main))],
        samples: &["2022-04-21T15:32:44Z  Killing     Sent interrupt. Waiting 5s before force killing"],
        near_misses: &["waits 5s before force killing"],
    },
    // Amazon ECS in its console and events: a container's limit.
    Pattern {
        id: "ecs/oom",
        witness: Witness::Runtime,
        stems: &["OutOfMemoryError: Container killed due to memory usage"],
        regex: r"^OutOfMemoryError: Container killed due to memory usage(?: This could be a transient error\. Use @retry to retry\.)?\s*$",
        read: |_| vec![Claim::new(What::OomReported { by: "ECS", scope: Scope::Cgroup }, Who::role(Role::Main))],
        samples: &[
            "OutOfMemoryError: Container killed due to memory usage",
            "OutOfMemoryError: Container killed due to memory usage This could be a transient error. Use @retry to retry.",
        ],
        near_misses: &["\"reason\": \"OutOfMemoryError: Container killed due to memory usage\","],
    },
    // `docker inspect -f '{{.State}}'`: Go prints the fields of moby's container/state.go in their order, without names.
    Pattern {
        id: "engine/go-state",
        witness: Witness::Runtime,
        stems: &["{exited ", "{dead ", "{restarting ", "{running "],
        regex: r"(?:^|\s)&?\{(?<state>exited|dead|restarting|running) (?:true|false) (?:true|false) (?:true|false) (?<oom>true|false) (?:true|false) \d+ (?<code>-?\d+) .*\d{4}-\d\d-\d\dT[\d:.]+Z ",
        read: |c| {
            let status = match c.get("state") {
                Some("running") => Status::Running,
                Some("restarting") => Status::Restarting,
                _ => Status::Exited,
            };
            let container = Container {
                status,
                exit_code: c.num("code").filter(|_| status != Status::Running),
                oom_killed: Some(c.get("oom") == Some("true")),
                ..Container::new(Engine::Docker)
            };
            vec![Claim::new(What::Container(Box::new(container)), Who::role(Role::Main))]
        },
        samples: &[
            "{exited false false false true false 0 137  2026-12-01T06:58:41.286944589Z 2026-12-01T06:58:43.286944589Z <nil>}",
        ],
        near_misses: &["{exited false false false true false 0 137}", "{running true}"],
    },
    // docker-compose 1: `docker-compose ps`, whose state is `Exit <code>`.
    Pattern {
        id: "compose/ps-1",
        witness: Witness::Runtime,
        stems: &["   Exit "],
        regex: r"^(?<name>\w[\w.-]*_\d+)\s{2,}\S.*?\s{2,}Exit (?<code>\d+)(?:\s.*)?$",
        read: |c| {
            let container = Container { status: Status::Exited, exit_code: c.num("code"), ..Container::new(Engine::Docker) };
            let who = Who { container_name: c.text("name"), ..Who::role(Role::Main) };
            vec![Claim::new(What::Container(Box::new(container)), who)]
        },
        samples: &[
            "proj_trainer_1   python train.py --workers 8      Exit 137           ",
            "proj_db_1   docker-entrypoint.sh postgres   Exit 0",
        ],
        near_misses: &["proj_db_1        docker-entrypoint.sh postgres    Up       5432/tcp"],
    },
];
