//! Machines taken back by a cloud or a scheduler, in the words of those who lose them: Ray, Spark on YARN, SkyPilot, the
//! agents of clouds on the machine itself.

use super::{Caps, Pattern};
use crate::fact::{Claim, Role, What, Who, Why, Witness};

fn preempted(by: &'static str, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why: Why::Preemption, signal: None }, who)]
}

/// The node of an actor, and why it went.
fn node(c: &Caps<'_>) -> Vec<Claim> {
    let words = c.line.text.to_ascii_lowercase();
    if ["preempted", "spot interruption", "spot instance"].iter().any(|word| words.contains(word)) {
        return preempted("Ray", Who::role(Role::Job));
    }
    vec![Claim::new(What::Infrastructure, Who::role(Role::Job))]
}

pub(super) const TABLE: &[Pattern] = &[
    // Ray's gcs_actor_manager.cc, 2.9 and later: the reason of a node's end, below `The actor died because its node has died.`
    Pattern {
        id: "preempted/ray-node",
        witness: Witness::Supervisor,
        stems: &["the actor's node was "],
        regex: r"^[\s|│]*the actor's node was (?:preempted|terminated(?: un| )?expectedly|terminated): .*$",
        read: node,
        samples: &[
            "\tthe actor's node was preempted: spot instance is going away",
            "\tthe actor's node was terminated expectedly: The node was preempted. received SIGTERM",
            "\tthe actor's node was terminated unexpectedly: health check failed due to missing too many heartbeats",
        ],
        near_misses: &["    assert \"the actor's node was preempted: \" in str(e)"],
    },
    // Spark's YarnAllocator (exit status -102) and YARN's own diagnostics of such a container.
    Pattern {
        id: "preempted/yarn",
        witness: Witness::Supervisor,
        stems: &[" was preempted.", "Container preempted by scheduler"],
        regex: r"(?:^|: )(?:Container container_\w+ on host: (?<host>[\w.-]+?) was preempted\.|Container preempted by scheduler)\s*$",
        read: |c| preempted("YARN", Who { host: c.text("host"), ..Who::role(Role::Main) }),
        samples: &[
            "ERROR YarnScheduler: Lost executor 31 on ip-10-1-8-44.ec2.internal: Container container_1710370000001_0042_01_000032 on host: ip-10-1-8-44.ec2.internal was preempted.",
            "Exit status: -102. Diagnostics: Container preempted by scheduler",
        ],
        near_misses: &["note: Container container_1 was preempted. See the queue"],
    },
    // SkyPilot's controller of managed jobs; `preempted or failed` is all that it knows at first.
    Pattern {
        id: "preempted/skypilot",
        witness: Witness::Supervisor,
        stems: &["luster is preempted", "luster is Preempted.", " was preempted. Recovering"],
        regex: r"^(?:\w+(?:/\w+)*\.py:\d+\] )?(?:(?<maybe>(?:The c|C)luster is preempted or failed(?: \(status: \w+\))?)\.(?: .*)?|The cluster is [Pp]reempted\.(?: .*)?|Cluster \S+ was preempted\. Recovering.*)\s*$",
        read: |c| match c.get("maybe") {
            Some(_) => vec![Claim::new(What::Infrastructure, Who::role(Role::Job))],
            None => preempted("the cloud", Who::role(Role::Job)),
        },
        samples: &[
            "Cluster is preempted or failed (status: INIT). Recovering...",
            "recovery_strategy.py:411] Cluster is preempted or failed. (status: INIT)",
            "jobs/controller.py:301] Cluster sky-train-7 was preempted. Recovering the job...",
            "The cluster is Preempted.",
        ],
        near_misses: &["# 2. The cluster is preempted or failed before the job is", "if the cluster is preempted, recover"],
    },
    // AWS's node termination handler.
    Pattern {
        id: "preempted/ec2",
        witness: Witness::Supervisor,
        stems: &["Spot Interruption event received"],
        regex: r"^(?:[\d/: ]+)?Spot Interruption event received\. Instance will be interrupted at \S+.*$",
        read: |_| preempted("AWS", Who::role(Role::Job)),
        samples: &["Spot Interruption event received. Instance will be interrupted at 2024-05-03T10:02:00Z"],
        near_misses: &["no Spot Interruption event received"],
    },
    // Kueue's conditions and events of a workload (pkg/scheduler/preemption), 0.4 and later.
    Pattern {
        id: "preempted/kueue",
        witness: Witness::Supervisor,
        stems: &["Preempted to accommodate a "],
        regex: r"^(?:\s*[Mm]essage: +'?|.*\s)?Preempted to accommodate a (?:higher priority )?[Ww]orkload(?: \(UID: [^)]*\))?(?: .*)?$",
        read: |_| preempted("Kueue", Who::role(Role::Job)),
        samples: &[
            "    Message:               Preempted to accommodate a workload (UID: 9f542104-a9e2-4344-ad2e-9c136204da18, JobUID: 0c1d) due to prioritization in the ClusterQueue",
            "  Normal  EvictedDueToPreempted 4m2s  kueue-admission  Preempted to accommodate a workload (UID: 9f542104) in the ClusterQueue",
        ],
        near_misses: &["        \"Preempted to accommodate a workload (UID: %s, JobUID: %s) due to %s\"", "a pod was Preempted"],
    },
    // Azure's scheduled events (http://169.254.169.254/metadata/scheduledevents), as agents and scripts print them.
    Pattern {
        id: "preempted/azure",
        witness: Witness::Supervisor,
        stems: &[
            "EventType=Preempt",
            "EventType\": \"Preempt",
            "EventType\":\"Preempt",
            "EventType: Preempt",
            "EventType': 'Preempt",
        ],
        regex: r#"^[^#`]*\bEventType["']?[=:] ?["']?Preempt\b[^#`]*\bNotBefore\b"#,
        read: |_| preempted("Azure", Who::role(Role::Job)),
        samples: &[
            "Received preempt notice: EventType=Preempt NotBefore=\"Mon, 05 May 2025 05:13:10 GMT\" Resources=[\"gpu-lowpri_4\"]",
            r#"{"EventId": "A0D2", "EventType": "Preempt", "ResourceType": "VirtualMachine", "Resources": ["vm_4"], "NotBefore": "Mon, 05 May 2025 05:13:10 GMT"}"#,
        ],
        near_misses: &["EventType is one of Freeze, Reboot, Redeploy, Preempt, Terminate", "EventType=Reboot NotBefore=\"\""],
    },
    // Google's operation, as `gcloud compute operations list` and tools above it print it.
    Pattern {
        id: "preempted/gce",
        witness: Witness::Supervisor,
        stems: &["compute.instances.preempted"],
        regex: r"^(?:systemevent-\S+\s+|.*\boperation: |TYPE: |operationType: )compute\.instances\.preempted\b[^{}]*$",
        read: |_| preempted("Google Compute Engine", Who::role(Role::Job)),
        samples: &[
            "systemevent-1714644670123-6179  compute.instances.preempted  us-central1-a/instances/train-7  200  DONE  2024-05-02T10:11:10.123-07:00",
            "gcp: instance ray-head-1a operation: compute.instances.preempted",
            "operationType: compute.instances.preempted",
        ],
        near_misses: &["--filter=\"operationType=compute.instances.preempted\""],
    },
];
