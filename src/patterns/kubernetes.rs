//! Kubernetes in text: kubelet and containerd logs, events, `kubectl get` and `kubectl exec`.
//!
//! `kubectl describe` and the JSON forms are records; here stand the sentences that mean something on their own.

use super::{Caps, Pattern};
use crate::fact::{Claim, Container, Engine, EvictedFor, How, Reason, Role, Scope, Status, What, Who, Why, Witness};
use crate::time::Stamp;

fn pod(c: &Caps<'_>) -> Who {
    Who { pod: c.text("pod"), namespace: c.text("namespace"), ..Who::default() }
}

/// Whether a volume's name says that it is mounted at /dev/shm, as the usual names do.
fn is_shm(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("shm") || name.contains("shared-mem") || name.contains("shared_mem")
}

fn evicted(c: &Caps<'_>) -> Vec<Claim> {
    let why = match (c.get("resource"), c.get("condition"), c.get("volume")) {
        (Some("memory"), ..) | (_, Some("MemoryPressure"), _) => EvictedFor::Memory,
        (_, _, Some(volume)) => EvictedFor::Volume(is_shm(volume).then_some(true)),
        _ => EvictedFor::Disk,
    };
    vec![Claim::new(What::Evicted(why), pod(c))]
}

fn stopped(c: &Caps<'_>) -> Vec<Claim> {
    let why = if c.get("probe").or_else(|| c.get("unhealthy")).is_some() {
        Why::Probe
    } else if c.get("preempted").is_some() {
        Why::Preemption
    } else if c.get("shutdown").is_some() {
        Why::Shutdown
    } else {
        Why::Request
    };
    vec![Claim::new(
        What::Stopped { by: "kubelet", why, signal: None },
        Who { container_name: c.text("container").or_else(|| c.text("old")), ..pod(c) },
    )]
}

/// A row of `kubectl get pods`; the status column holds the container's reason or the pod's.
fn row(c: &Caps<'_>) -> Vec<Claim> {
    let Some(word) = c.get("status") else { return Vec::new() };
    if word == "Evicted" {
        return vec![Claim::new(What::Evicted(EvictedFor::Unknown), pod(c))];
    }
    let init = word.starts_with("Init:");
    let word = word.trim_start_matches("Init:");
    let mut container =
        Container { init, restarts: c.num("restarts"), status: Status::Exited, ..Container::new(Engine::Kubernetes) };
    match word {
        "OOMKilled" => {
            container.reason = Some(Reason::OomKilled);
            container.oom_killed = Some(true);
        }
        "Error" => container.reason = Some(Reason::Error),
        "ContainerStatusUnknown" => container.reason = Some(Reason::StatusUnknown),
        "ContainerCannotRun" | "StartError" | "RunContainerError" | "ImagePullBackOff" | "ErrImagePull" => {
            container.reason = Some(Reason::NotStarted);
        }
        _ => match (word.strip_prefix("ExitCode:"), word.strip_prefix("Signal:")) {
            (Some(code), _) => container.exit_code = code.parse().ok(),
            (_, Some(signal)) => container.exit_code = signal.parse().ok().map(|n: i64| n.saturating_add(128)),
            _ => return Vec::new(),
        },
    }
    vec![Claim::new(What::Container(Box::new(container)), pod(c))]
}

/// A container's reason by its word.
fn reason(word: &str) -> Reason {
    match word {
        "OOMKilled" => Reason::OomKilled,
        "Error" => Reason::Error,
        "Completed" => Reason::Completed,
        "ContainerStatusUnknown" => Reason::StatusUnknown,
        other => Reason::Other(other.to_owned()),
    }
}

pub(super) const TABLE: &[Pattern] = &[
    // kubectl run and attach (pkg/cmd/run), before the code.
    Pattern {
        id: "kubectl/terminated",
        witness: Witness::Runtime,
        stems: &[" terminated (OOMKilled)"],
        regex: r"^pod (?:(?<namespace>[\w-]+)/)?(?<pod>[\w.-]+) terminated \(OOMKilled\)\s*$",
        read: |c| {
            let who = Who { pod: c.text("pod"), namespace: c.text("namespace"), ..Who::role(Role::Main) };
            vec![Claim::new(What::OomReported { by: "kubelet", scope: Scope::Cgroup }, who)]
        },
        samples: &["pod ml/train-0 terminated (OOMKilled)"],
        near_misses: &["pod ml/train-0 terminated (Error)"],
    },
    // pkg/kubelet/oom/oom_watcher_linux.go: an event of the node, for victims whose cgroup is `/` to the kubelet.
    Pattern {
        id: "kubelet/system-oom",
        witness: Witness::Runtime,
        stems: &["System OOM encountered, victim process: "],
        regex: r"(?:^|\s|: )System OOM encountered, victim process: (?<process>.+), pid: (?<pid>\d+)\s*$",
        read: |c| {
            let who = Who::host(c.num("pid"), c.text("process"));
            vec![Claim::new(What::OomReported { by: "kubelet", scope: Scope::Host }, who)]
        },
        samples: &[
            "System OOM encountered, victim process: mem-hog, pid: 26717",
            "  Warning  SystemOOM                9m2s   kubelet, node-1  System OOM encountered, victim process: mem-hog, pid: 26717",
        ],
        near_misses: &["eventMsg = fmt.Sprintf(\"System OOM encountered, victim process: %s, pid: %d\", name, pid)"],
    },
    // containerd's CRI plug-in: `container_id:\"…\"` from 1.7, `&TaskOOM{ContainerID:…}` before; the container only, no pid.
    Pattern {
        id: "containerd/task-oom",
        witness: Witness::Runtime,
        stems: &["TaskOOM event "],
        regex: r#"TaskOOM event (?:&TaskOOM\{ContainerID:|container_id:\\?")(?<container>[0-9a-f]{12,64})"#,
        read: |c| {
            let who = Who { container: c.text("container"), ..Who::default() };
            vec![Claim::new(What::OomReported { by: "containerd", scope: Scope::Cgroup }, who)]
        },
        samples: &[
            r#"time="2024-05-03T10:00:00.123456789Z" level=info msg="TaskOOM event container_id:\"6dceaf01b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d\"""#,
            r#"time="2020-05-03T10:00:00.123456789Z" level=info msg="TaskOOM event &TaskOOM{ContainerID:6dceaf01b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d,XXX_unrecognized:[],}""#,
        ],
        near_misses: &["TaskOOM event for an unknown container"],
    },
    // runc, libcontainer/process_linux.go: the limit is below what the start itself needs; 128 in Kubernetes, OOMKilled false.
    Pattern {
        id: "runc/init-oom",
        witness: Witness::Runtime,
        stems: &["container init was OOM-killed (memory limit too low?)"],
        regex: r#"(?:^|[\s:])container init was OOM-killed \(memory limit too low\?\)[^")]*"#,
        read: |_| vec![Claim::new(What::OomReported { by: "runc", scope: Scope::Cgroup }, Who::role(Role::Main))],
        samples: &[
            "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown.",
        ],
        near_misses: &["return errors.New(\"container init was OOM-killed (memory limit too low?)\")"],
    },
    // pkg/kubelet/eviction: the pod's message, in events and in `kubectl describe`.
    Pattern {
        id: "kubelet/evicted",
        witness: Witness::Runtime,
        stems: &[
            "The node was low on resource: ",
            "The node had condition: [",
            "Usage of EmptyDir volume \"",
            "ephemeral local storage usage exceeds",
            "exceeds the total limit of containers",
        ],
        regex: r#"^\s*(?:[Mm]essage:\s+['"]?|(?:[^"'`#]*\s)?(?:Warning|Evicted)\s[^"'`#]*?)?(?:pod/(?<pod>[\w.-]+)\s+)?(?:The node was low on resource: (?<resource>[\w-]+)\.|The node had condition: \[(?<condition>\w+)[^\]]*\]\.|Usage of EmptyDir volume "(?<volume>[^"]+)" exceeds the limit "[^"]+"\.|(?:Pod|Container \S+) ephemeral local storage usage exceeds the total limit of containers \S+|Container \S+ exceeded its local ephemeral storage limit "[^"]+"\.)"#,
        read: evicted,
        samples: &[
            "4m11s       Warning   Evicted               pod/egg-6c9bb6df5b-k7q2m        The node was low on resource: memory. Container egg was using 5053216Ki, which exceeds its request of 0. ",
            "Message:      The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi.",
            "4m7s        Warning   Evicted               pod/egg-6c9bb6df5b-xt4zn        The node had condition: [MemoryPressure]. ",
            "Usage of EmptyDir volume \"dshm\" exceeds the limit \"8Gi\". ",
        ],
        near_misses: &[
            "nodeLowMessageFmt = \"The node was low on resource: %v. \"",
            "Usage of EmptyDir volume %q exceeds the limit %q.",
        ],
    },
    // pkg/kubelet/eviction/eviction_manager.go; before 1.21 the same words in plain sentences. The first line tells the resource,
    // the second the pod.
    Pattern {
        id: "kubelet/eviction-manager",
        witness: Witness::Runtime,
        stems: &["must evict pod(s) to reclaim", "evicted successfully"],
        regex: r#"^"?[Ee]viction manager: (?:must evict pod\(s\) to reclaim"? (?:resourceName=)?"?(?<resource>[\w.-]+)"?|pod (?:is evicted successfully" pod="(?<namespace>[^"/]+)/(?<pod>[^"]+)"|(?<namespace2>[a-z0-9-]+)_?/?(?<pod2>[\w.-]+?)(?:_[\w-]+)?\([\w-]+\) is evicted successfully))\s*$"#,
        read: |c| {
            let who = Who {
                pod: c.text("pod").or_else(|| c.text("pod2")),
                namespace: c.text("namespace").or_else(|| c.text("namespace2")),
                ..Who::default()
            };
            let why = match c.get("resource") {
                Some("memory") => EvictedFor::Memory,
                Some(_) => EvictedFor::Disk,
                None => EvictedFor::Unknown,
            };
            vec![Claim::new(What::Evicted(why), who)]
        },
        samples: &[
            r#""Eviction manager: must evict pod(s) to reclaim" resourceName="memory""#,
            r#""Eviction manager: pod is evicted successfully" pod="bio/esm-finetune-0""#,
            "eviction manager: must evict pod(s) to reclaim memory",
        ],
        near_misses: &[
            r#""Eviction manager: attempting to reclaim" resourceName="memory""#,
            r#"the "Eviction manager: must evict pod(s) to reclaim" line"#,
        ],
    },
    // `-o jsonpath={..lastState}` and Go templates of kubectl print maps in Go's own way: keys in alphabetical order since Go
    // 1.12, in any order before.
    Pattern {
        id: "kubectl/go-map",
        witness: Witness::Runtime,
        stems: &["terminated:map["],
        regex: r"(?:^|\s)(?:(?<previous>[Ll]ast ?State:? ?)|[Ss]tate:? ?)?(?:map\[)?terminated:map\[(?<fields>.*\bexitCode:\d+.*?)\](?:\]|\s|$)",
        read: |c| {
            let fields = c.get("fields").unwrap_or_default();
            let field = |key: &str| fields.split(' ').find_map(|pair| pair.strip_prefix(key)?.strip_prefix(':'));
            let reason = field("reason").map(reason);
            let container = Container {
                status: Status::Exited,
                exit_code: field("exitCode").and_then(|code| code.parse().ok()),
                oom_killed: (reason == Some(Reason::OomKilled)).then_some(true),
                reason,
                started: field("startedAt").and_then(Stamp::parse),
                finished: field("finishedAt").and_then(Stamp::parse),
                previous: c.get("previous").is_some(),
                ..Container::new(Engine::Kubernetes)
            };
            let id = field("containerID").and_then(|id| id.rsplit('/').next()).map(str::to_owned);
            vec![Claim::new(What::Container(Box::new(container)), Who { container: id, ..Who::role(Role::Main) })]
        },
        samples: &[
            "map[terminated:map[containerID:docker://71c30250d872095d07de45a45558386950fa605c11ee83e417600c499b0024bb exitCode:137 finishedAt:2016-01-19T15:56:10Z reason:OOMKilled startedAt:2016-01-19T15:56:10Z]]",
            "LastState: map[terminated:map[exitCode:137 reason:Error startedAt:2018-08-31T10:01:43Z finishedAt:2018-08-31T10:05:12Z containerID:docker://4af1c07e9b2d5836a1e0f7c4d9b83526170ae4fc8d3b9265f01e7ac84d5b3926]]",
        ],
        near_misses: &[
            "map[terminated:map[reason:OOMKilled]]",
            "{terminated:map[exitCode:%d]}",
            "LastState: map[]",
            "LastState: map[running:map[startedAt:2018-08-31T10:01:43Z]]",
        ],
    },
    // kube-state-metrics as Prometheus scrapes it: the reason since 1.0, the code since 2.9. A reason that does not hold is 0.
    Pattern {
        id: "kube-state/terminated",
        witness: Witness::Runtime,
        stems: &["terminated_reason{", "terminated_exitcode{"],
        regex: r"^kube_pod_container_status_(?<last>last_)?terminated_(?:reason\{(?<labels>[^{}]+)\} 1|exitcode\{(?<labels2>[^{}]+)\} (?<code>[1-9]\d*))(?: \d+)?\s*$",
        read: |c| {
            let labels = c.get("labels").or_else(|| c.get("labels2")).unwrap_or_default();
            let label = |key: &str| {
                let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
                pairs.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim_matches('"').to_owned()).next()
            };
            let reason = label("reason").map(|word| reason(&word));
            if reason == Some(Reason::Completed) {
                return Vec::new();
            }
            let container = Container {
                status: Status::Exited,
                exit_code: c.num("code"),
                oom_killed: (reason == Some(Reason::OomKilled)).then_some(true),
                reason,
                previous: c.get("last").is_some(),
                ..Container::new(Engine::Kubernetes)
            };
            let who = Who {
                pod: label("pod"),
                namespace: label("namespace"),
                pod_uid: label("uid"),
                container_name: label("container"),
                ..Who::role(Role::Main)
            };
            vec![Claim::new(What::Container(Box::new(container)), who)]
        },
        samples: &[
            r#"kube_pod_container_status_last_terminated_reason{namespace="ml",pod="ddp-worker-2",uid="1131cbfa-d195-9a53-57de-84426de6f1cc",container="pytorch",reason="OOMKilled"} 1"#,
            r#"kube_pod_container_status_last_terminated_exitcode{namespace="ml",pod="ddp-worker-2",container="pytorch"} 137"#,
        ],
        near_misses: &[
            r#"kube_pod_container_status_last_terminated_reason{namespace="ml",pod="ddp-worker-2",container="pytorch",reason="OOMKilled"} 0"#,
            r#"kube_pod_container_status_terminated_reason{namespace="ml",pod="a",container="b",reason="Completed"} 1"#,
            "# TYPE kube_pod_container_status_last_terminated_reason gauge",
            r#"expr: kube_pod_container_status_last_terminated_reason{reason="OOMKilled"} == 1"#,
        ],
    },
    // pkg/kubelet/kuberuntime: why the kubelet ends a container. `Stopping container` is also printed after an eviction, and
    // `Killing container with` before 1.16.
    Pattern {
        id: "kubelet/stopping",
        witness: Witness::Runtime,
        stems: &[
            "Stopping container ",
            " probe, will be restarted",
            "Preempted in order to admit critical pod",
            "Pod was terminated in response to imminent node shutdown",
            "Preempted by ",
            "Killing container with ",
        ],
        regex: r"(?:^|\s)(?:pod/(?<pod>[\w.-]+)\s+)?(?:Stopping container (?<container>[\w.-]+)|Killing container with (?:id \w+://(?<old>[\w.-]+):|docker id [0-9a-f]+: )(?:Need to kill [Pp]od|(?<unhealthy>Container failed (?:liveness|startup) probe\.\. |pod \S+ container \S+ is unhealthy, it ).*[Cc]reated\.)\.?|Container \S+ (?<probe>failed (?:liveness|startup) probe, will be restarted)|(?<preempted>Preempted in order to admit critical pod|Preempted by (?:a )?pod \S+ on node \S+|Preempted by \S+/\S+ on node \S+)|(?<shutdown>Pod was terminated in response to imminent node shutdown)\.?)\s*$",
        read: stopped,
        samples: &[
            "4m11s       Normal    Killing               pod/egg-6c9bb6df5b-k7q2m        Stopping container egg",
            "Container trainer failed liveness probe, will be restarted",
            "Preempted in order to admit critical pod",
            "Pod was terminated in response to imminent node shutdown.",
            "kubelet, gke-pool-7   Killing container with id docker://fit:Container failed liveness probe.. Container will be killed and recreated.",
            "Killing container with id docker://fit:Need to kill Pod",
        ],
        near_misses: &["Stopping container %s", "docker: Stopping container trainer failed"],
    },
    // kubectl exec, and GitLab's Kubernetes executor: the command's end, which need not be the container's.
    Pattern {
        id: "kubectl/exec",
        witness: Witness::Arithmetic,
        stems: &["command terminated with exit code "],
        regex: r"^command terminated with exit code (?<code>[1-9]\d*)\s*$",
        read: |c| {
            let Some(code) = c.num("code") else { return Vec::new() };
            vec![Claim::new(What::Ended { how: How::Code(code), hint: false }, Who::role(Role::Unknown))]
        },
        samples: &["command terminated with exit code 137"],
        near_misses: &["ERROR: Job failed: command terminated with exit code 137", "command terminated with exit code 0"],
    },
    // k8s.io/kubernetes/pkg/printers: STATUS is the last container's reason; `-A` puts the namespace first.
    Pattern {
        id: "kubectl/pods",
        witness: Witness::Runtime,
        stems: &[
            "OOMKilled ",
            "Error ",
            "Evicted ",
            "ContainerStatusUnknown ",
            "ExitCode:",
            "Signal:",
            "ContainerCannotRun ",
            "StartError ",
            "RunContainerError ",
            "ImagePullBackOff ",
            "ErrImagePull ",
        ],
        regex: r"^(?:(?<namespace>[a-z0-9][a-z0-9-]*)\s+)?(?<pod>[a-z0-9][a-z0-9.-]*)\s+\d+/\d+\s+(?<status>(?:Init:)?(?:OOMKilled|Error|Evicted|ContainerStatusUnknown|ContainerCannotRun|StartError|RunContainerError|ImagePullBackOff|ErrImagePull|ExitCode:\d+|Signal:\d+))\s+(?<restarts>\d+)(?: \([^)]*\))?\s+\d+\w*",
        read: row,
        samples: &[
            "train-7c9d4-worker-0          0/1     OOMKilled   3 (2m ago)   17m",
            "ml          train-7c9d4-worker-0          0/1     Init:Error   0   17m    10.2.3.4   node-1   <none>   <none>",
            "egg-6c9bb6df5b-k7q2m   0/1   Evicted   0   4m11s",
        ],
        near_misses: &[
            "NAME                          READY   STATUS      RESTARTS     AGE",
            "train-7c9d4-worker-0          1/1     Running     0            17m",
        ],
    },
    // pkg/kubelet: the pod could not even be started.
    Pattern {
        id: "kubelet/not-started",
        witness: Witness::Runtime,
        stems: &["Failed to pull image \"", "Back-off pulling image \""],
        regex: r#"(?:^|\s)(?:pod/(?<pod>[\w.-]+)\s+)?(?:Failed to pull image "[^"]+"(?:: .*)?|Back-off pulling image "[^"]+"(?:: .*)?)$"#,
        read: |c| vec![Claim::new(What::Infrastructure, pod(c))],
        samples: &[
            "Failed to pull image \"federatedai/egg:1.2.0-release\": rpc error: code = NotFound",
            "Back-off pulling image \"federatedai/egg:1.2.0-release\"",
        ],
        near_misses: &["Successfully pulled image \"federatedai/egg:1.2.0-release\""],
    },
    // pkg/kubelet/oom/oom_watcher_linux.go in the kubelet's own log, from 1.20: every kill that the kernel logs, of any cgroup.
    Pattern {
        id: "kubelet/sys-oom",
        witness: Witness::Runtime,
        stems: &["Got sys oom event"],
        regex: r#"Got sys oom event"? event=.?&?\{Pid:(?<pid>\d+) ProcessName:(?<process>\S+) .*?VictimContainerName:(?<cgroup>\S*) Constraint:(?<constraint>\w+)"#,
        read: |c| {
            let scope = match c.get("constraint") {
                Some("CONSTRAINT_MEMCG") => Scope::Cgroup,
                Some("CONSTRAINT_NONE") => Scope::Host,
                _ => Scope::Unknown,
            };
            let who =
                Who { cgroup: c.text("cgroup").filter(|path| path.len() > 1), ..Who::host(c.num("pid"), c.text("process")) };
            vec![Claim::new(What::OomReported { by: "kubelet", scope }, who)]
        },
        samples: &[
            r#""Got sys oom event" event=&{Pid:26717 ProcessName:python TimeOfDeath:2024-03-12 11:52:43.1 +0000 UTC m=+5.1 ContainerName:/kubepods/burstable/pod713b7f3f VictimContainerName:/kubepods/burstable/pod713b7f3f Constraint:CONSTRAINT_MEMCG}"#,
        ],
        near_misses: &["klog.V(1).InfoS(\"Got sys oom event\", \"event\", event)"],
    },
    // Kubeflow's training-operator v1, pkg/controller.v1/common/pod.go: events and log lines about a replica's pod.
    Pattern {
        id: "kubeflow/pod",
        witness: Witness::Supervisor,
        stems: &[" terminated message: ", " exited with code "],
        regex: r"(?:^|\s)(?:Pod: (?<namespace>[a-z0-9-]+)\.(?<pod>[a-z0-9][a-z0-9.-]*) exited with code (?<code>[1-9]\d*)\s*$|Error pod (?<pod2>\S+) container (?<container>\S+) exitCode: (?<code2>[1-9]\d*) terminated message: )",
        read: |c| {
            let Some(code) = c.num("code").or_else(|| c.num("code2")) else { return Vec::new() };
            let pod = c.text("pod").or_else(|| c.text("pod2"));
            let (namespace, container_name) = (c.text("namespace"), c.text("container"));
            let who = Who { pod, namespace, container_name, ..Who::role(Role::Main) };
            vec![Claim::new(What::Ended { how: How::Code(code), hint: false }, who)]
        },
        samples: &[
            "4m11s       Normal    ExitedWithCode   pytorchjob/bert        Pod: ml.bert-worker-0 exited with code 137",
            "Error pod bert-master-0 container pytorch exitCode: 135 terminated message: ",
        ],
        near_misses: &["Pod: %v.%v exited with code %v", "Pod: ml.bert-worker-0 exited with code 0"],
    },
];
