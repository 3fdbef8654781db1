//! Continuous integration: GitHub Actions, GitLab, Jenkins, Buildkite, CircleCI, Azure Pipelines.
//!
//! All of them know an exit code and nothing more; where they explain 137 by memory they guess.

use super::{Caps, Pattern};
use crate::fact::{Claim, Container, Engine, How, Reason, Role, Scope, Status, What, Who, Why, Witness};

fn coded(c: &Caps<'_>) -> Vec<Claim> {
    let Some(code) = c.num("code") else { return Vec::new() };
    vec![Claim::new(What::Ended { how: How::Code(code), hint: c.get("guess").is_some() }, Who::role(Role::Job))]
}

pub(super) const TABLE: &[Pattern] = &[
    // actions/runner ScriptHandler.cs; a copy from the page has `Error: ` or nothing instead of `##[error]`.
    Pattern {
        id: "github/exit",
        witness: Witness::Arithmetic,
        stems: &["Process completed with exit code "],
        regex: r"^(?:##\[error\]|::error::|Error: )?Process completed with exit code (?<code>[1-9]\d*)\.\s*$",
        read: coded,
        samples: &["##[error]Process completed with exit code 137.", "Error: Process completed with exit code 137."],
        near_misses: &["the step shows \"Process completed with exit code 137.\"", "Process completed with exit code 0."],
    },
    // GitLab's runner; the Kubernetes executor adds `command terminated with`.
    Pattern {
        id: "gitlab/exit",
        witness: Witness::Arithmetic,
        stems: &["ERROR: Job failed: ", "ERROR: Job failed (exit code "],
        regex: r"^ERROR: Job failed(?:: (?:command terminated with )?exit (?:code|status) (?<code>\d+)| \(exit code (?<code2>\d+)\))\s*$",
        read: |c| {
            let code = c.num("code").or_else(|| c.num("code2"));
            code.map(|code| Claim::new(What::Ended { how: How::Code(code), hint: false }, Who::role(Role::Job)))
                .into_iter()
                .collect()
        },
        samples: &[
            "ERROR: Job failed: exit code 137",
            "ERROR: Job failed: command terminated with exit code 137",
            "ERROR: Job failed: exit status 1",
        ],
        near_misses: &[
            "echo \"ERROR: Job failed: exit code $?\"",
            "ERROR: Job failed: execution took longer than 1h0m0s seconds",
        ],
    },
    // The Kubernetes executor of GitLab's runner (15 and later) and Argo repeat the container's reason.
    Pattern {
        id: "ci/oom-killed",
        witness: Witness::Runtime,
        stems: &["OOMKilled"],
        regex: r"^(?:ERROR: Job failed(?: \(system failure\))?: |.*[Ee]rror in container )?(?:Error in container )?(?<container>[\w.-]+: )?(?:exit code: (?<code>\d+), reason: '?OOMKilled'?|OOMKilled \(exit code (?<code2>\d+)\)(?:: .*)?)\s*$",
        read: |c| {
            let code = c.num("code").or_else(|| c.num("code2"));
            let container_name = c.get("container").map(|name| name.trim_end_matches(": ").to_owned());
            let who = Who { container_name, ..Who::role(Role::Main) };
            let mut claims = vec![Claim::new(What::OomReported { by: "container runtime", scope: Scope::Cgroup }, who.clone())];
            claims.extend(code.map(|code| Claim::new(What::Ended { how: How::Code(code), hint: false }, who)));
            claims
        },
        samples: &[
            "ERROR: Job failed (system failure): Error in container build: exit code: 137, reason: 'OOMKilled'",
            "main: OOMKilled (exit code 137)",
            "OOMKilled (exit code 137)",
        ],
        near_misses: &[
            "            \"OOMKilled\": false,",
            "reason: OOMKilled",
            "a pod that shows OOMKilled (exit code 137) was short of memory",
        ],
    },
    // GitLab's runner: nothing of the job's own failed.
    Pattern {
        id: "gitlab/system",
        witness: Witness::Supervisor,
        stems: &["ERROR: Job failed (system failure): "],
        regex: r"^ERROR: Job failed \(system failure\): (?:prepare environment|pod |failed to|pods? .* not found|unable to|Cannot connect|error during connect|image |Error response|timed out|execution took)",
        read: |_| vec![Claim::new(What::Infrastructure, Who::role(Role::Job))],
        samples: &[
            "ERROR: Job failed (system failure): prepare environment: waiting for pod running: timed out waiting for pod to start",
        ],
        near_misses: &["ERROR: Job failed (system failure): Error in container build: exit code: 137, reason: 'OOMKilled'"],
    },
    // GitLab's time-out of a job.
    Pattern {
        id: "gitlab/timeout",
        witness: Witness::Supervisor,
        stems: &["ERROR: Job failed: execution took longer than "],
        regex: r"^ERROR: Job failed: execution took longer than \S+ seconds\s*$",
        read: |_| vec![Claim::new(What::Stopped { by: "GitLab", why: Why::TimeLimit, signal: None }, Who::role(Role::Job))],
        samples: &["ERROR: Job failed: execution took longer than 1h0m0s seconds"],
        near_misses: &["ERROR: Job failed: exit code 137"],
    },
    // jenkinsci/workflow-durable-task-step; -1 and -2 mean that the agent lost the process.
    Pattern {
        id: "jenkins/exit",
        witness: Witness::Arithmetic,
        stems: &["script returned exit code "],
        regex: r"^(?:ERROR: |hudson\.AbortException: |Error: )?script returned exit code (?<code>-?\d+)\s*$",
        read: |c| match c.num::<i64>("code") {
            Some(0) | None => Vec::new(),
            Some(-2..=-1) => vec![Claim::new(What::Infrastructure, Who::role(Role::Job))],
            Some(_) => coded(c),
        },
        samples: &["ERROR: script returned exit code 137", "script returned exit code -1"],
        near_misses: &["if the script returned exit code 137 it was killed"],
    },
    // buildkite/agent; the Kubernetes stack adds a guess on another line.
    Pattern {
        id: "buildkite/exit",
        witness: Witness::Arithmetic,
        stems: &["The command exited with status "],
        regex: r"^(?:🚨 )?(?:Error: )?The command exited with status (?<code>-?[1-9]\d*)\s*$",
        read: coded,
        samples: &["🚨 Error: The command exited with status 137"],
        near_misses: &["The command exited with status 0"],
    },
    // buildkite/agent-stack-k8s: a container of the pod; the guess is printed for every status that it does not know.
    Pattern {
        id: "buildkite/container",
        witness: Witness::Arithmetic,
        stems: &["\" exited with status "],
        regex: r#"^The container "(?<name>[\w.-]+)" exited with status (?<code>[1-9]\d*)\.(?<guess> Perhaps the container was OOM-killed\?)?\s*$"#,
        read: |c| {
            let mut claims = coded(c);
            for claim in &mut claims {
                claim.who = Who { container_name: c.text("name"), ..Who::role(Role::Main) };
            }
            claims
        },
        samples: &["The container \"container-0\" exited with status 137. Perhaps the container was OOM-killed?"],
        near_misses: &["The container \"%s\" exited with status %d. Perhaps the container was OOM-killed?"],
    },
    Pattern {
        id: "circleci/exit",
        witness: Witness::Arithmetic,
        stems: &["Exited with code exit status ", "CircleCI received exit code "],
        regex: r"^(?:Exited with code exit status|CircleCI received exit code) (?<code>[1-9]\d*)\s*$",
        read: coded,
        samples: &["Exited with code exit status 137", "CircleCI received exit code 137"],
        near_misses: &["CircleCI received exit code 0"],
    },
    // CircleCI's agent watches the memory of its containers.
    Pattern {
        id: "circleci/memory",
        witness: Witness::Runtime,
        stems: &["Your build has exceeded the memory limit of "],
        regex: r"^Your build has exceeded the memory limit of (?<limit>\d+(?:\.\d+)?[KMGT]i?B?) on \d+ containers?\.",
        read: |c| {
            let who = Who::role(Role::Job);
            let mut claims = vec![Claim::new(What::OomReported { by: "CircleCI", scope: Scope::Cgroup }, who.clone())];
            claims.extend(c.bytes("limit").map(|limit| Claim::new(What::MemoryOption(limit), who)));
            claims
        },
        samples: &["Your build has exceeded the memory limit of 4G on 1 container."],
        near_misses: &["Your build has exceeded the memory limit of the plan"],
    },
    Pattern {
        id: "circleci/timeout",
        witness: Witness::Supervisor,
        stems: &["Too long with no output (exceeded "],
        regex: r"^Too long with no output \(exceeded (?:(?<minutes>\d+)m)?\S*\): context deadline exceeded",
        read: |c| {
            vec![Claim::new(
                What::TimedOut { seconds: c.num::<u64>("minutes").map(|m| m.saturating_mul(60)) },
                Who::role(Role::Job),
            )]
        },
        samples: &["Too long with no output (exceeded 10m0s): context deadline exceeded"],
        near_misses: &["Too long with no output (exceeded the limit)"],
    },
    // microsoft/azure-pipelines-tasks BashV3 prints its sentence about memory for every 137.
    Pattern {
        id: "azure/exit",
        witness: Witness::Arithmetic,
        stems: &["Bash exited with code ", "PowerShell exited with code ", "returned from process: file name '"],
        regex: r"^(?:##\[error\])?(?:(?:Bash|PowerShell) exited with code '?(?<code>[1-9]\d*)(?:'\.|(?<guess>, which means it ran out of memory)\..*)|Exit code (?<code2>[1-9]\d*) returned from process: file name '.*)\s*$",
        read: |c| {
            let code = c.num("code").or_else(|| c.num("code2"));
            let hint = c.get("guess").is_some();
            code.map(|code| Claim::new(What::Ended { how: How::Code(code), hint }, Who::role(Role::Job))).into_iter().collect()
        },
        samples: &[
            "##[error]Bash exited with code '137'.",
            "##[error]Bash exited with code 137, which means it ran out of memory. Make sure the agent (container) host has sufficient memory configured.",
            "##[error]Exit code 135 returned from process: file name '/usr/bin/bash', arguments '/w/_temp/a.sh'.",
        ],
        near_misses: &["Bash exited with code '0'."],
    },
    // actions/runner JobRunner.cs and its annotations, the Azure agent's strings.json, Jenkins.
    Pattern {
        id: "ci/runner-lost",
        witness: Witness::Supervisor,
        stems: &[
            " has received a shutdown signal",
            " lost communication with the server",
            "Operating system is shutting down for computer '",
            "wrapper script does not seem to be touching the log file in ",
            "Cannot contact ",
            "We stopped hearing from agent ",
        ],
        regex: r"^(?:##\[error\]|::error::|Error: )?(?:The (?:runner|agent) has received a shutdown signal\..*|The (?:hosted|self-hosted) (?:runner|agent): .+ lost communication with the server\..*|Operating system is shutting down for computer '[^']+'|wrapper script does not seem to be touching the log file in \S+|Cannot contact \S+: (?:java|hudson)\..*|We stopped hearing from agent .+\. Verify the agent machine is running.*)\s*$",
        read: |_| vec![Claim::new(What::Infrastructure, Who::role(Role::Job))],
        samples: &[
            "##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped, or a manually started runner is canceled.",
            "The self-hosted runner: gpu-7 lost communication with the server. Verify the machine is running and has a healthy network connection. Anything in your workflow that terminates the runner process, starves it for CPU/Memory, or blocks its network access can cause this error.",
            "wrapper script does not seem to be touching the log file in /home/jenkins/agent/workspace/x@tmp/durable-5a1b",
            "##[error]We stopped hearing from agent gpu-3. Verify the agent machine is running and has a healthy network connection.",
        ],
        near_misses: &["trainer has received a shutdown signal", "Cannot contact the license server"],
    },
    // actions/runner, the agents of Azure and Buildkite: a person, a newer run or a time-out.
    Pattern {
        id: "ci/cancelled",
        witness: Witness::Supervisor,
        stems: &[
            "The operation was cancel",
            "Sending interrupt signal to process",
            "Aborted by ",
            "Received cancellation signal, interrupting",
        ],
        regex: r"^(?:##\[error\]|::error::|Error: )?(?:The operation was cancell?ed\.|# Received cancellation signal, interrupting|Sending interrupt signal to process|Aborted by [\w .@-]+)\s*$",
        read: |c| {
            // Torque's mail, whose next line says why.
            if c.line.text.contains("PBS Server") {
                return Vec::new();
            }
            vec![Claim::new(What::Stopped { by: "CI", why: Why::Request, signal: None }, Who::role(Role::Job))]
        },
        samples: &[
            "##[error]The operation was canceled.",
            "Sending interrupt signal to process",
            "Aborted by Jane Doe",
            "# Received cancellation signal, interrupting",
        ],
        near_misses: &[
            "concurrent.futures.CancelledError: The operation was cancelled by its owner",
            "Aborted by signal=ABORT.",
            "Aborted by PBS Server",
        ],
    },
    // GitHub's and Azure's limit of a job or step, and the `timeout` step of Jenkins.
    Pattern {
        id: "github/timeout",
        witness: Witness::Supervisor,
        stems: &[
            "has exceeded the maximum execution time of ",
            "has timed out after ",
            " ran longer than the maximum time of ",
            "Cancelling nested steps due to timeout",
        ],
        regex: r"^(?:##\[error\]|Error: )?The (?:job|job running on runner .+|action '.*') has (?:exceeded the maximum execution time of|timed out after) (?:\d+ minutes\.|\d[\dhms]*)\s*$|^(?:##\[error\])?The job running on agent .+ ran longer than the maximum time of \d+ minutes\.|^Cancelling nested steps due to timeout\s*$",
        read: |_| vec![Claim::new(What::Stopped { by: "CI", why: Why::TimeLimit, signal: None }, Who::role(Role::Job))],
        samples: &[
            "##[error]The job running on runner GitHub Actions 12 has exceeded the maximum execution time of 360 minutes.",
            "##[error]The job running on agent gpu-1 ran longer than the maximum time of 60 minutes. For more information, see https://go.microsoft.com/fwlink/?linkid=2077134",
            "Cancelling nested steps due to timeout",
        ],
        near_misses: &["The test has exceeded the maximum execution time of 5 minutes."],
    },
    // Flyte's console: the pod's code and the kubelet's reason in one line.
    Pattern {
        id: "flyte/exit",
        witness: Witness::Runtime,
        stems: &["terminated with exit code ("],
        regex: r"^\[(?<pod>[\w.-]+)\] terminated with exit code \((?<code>\d+)\)\. Reason \[(?<reason>\w+)\]",
        read: |c| {
            let reason = match c.get("reason") {
                Some("OOMKilled") => Reason::OomKilled,
                Some("Error") => Reason::Error,
                Some("Completed") => Reason::Completed,
                Some(other) => Reason::Other(other.to_owned()),
                None => return Vec::new(),
            };
            let container = Container {
                status: Status::Exited,
                exit_code: c.num("code"),
                reason: Some(reason),
                ..Container::new(Engine::Kubernetes)
            };
            vec![Claim::new(What::Container(Box::new(container)), Who { pod: c.text("pod"), ..Who::role(Role::Main) })]
        },
        samples: &["[a71c05e92d4b46f8b310-n0-0] terminated with exit code (137). Reason [Error]. Message: "],
        near_misses: &["terminated with exit code (%v). Reason [%v]"],
    },
    // travis-ci/travis-build's shell functions.
    Pattern {
        id: "travis/exit",
        witness: Witness::Arithmetic,
        stems: &["The command \""],
        regex: r#"^The command ".+" (?:failed and )?exited with (?<code>[1-9]\d*)(?: during .*)?\.\s*$"#,
        read: coded,
        samples: &[
            "The command \"python train.py\" exited with 137.",
            "The command \"pytest\" failed and exited with 135 during .",
        ],
        near_misses: &["The command \"pytest\" exited with 0."],
    },
    // Bitbucket Pipelines watches the memory of its build container.
    Pattern {
        id: "bitbucket/memory",
        witness: Witness::Runtime,
        stems: &["' exceeded memory limit"],
        regex: r"^Container '(?<name>[^']+)' exceeded memory limit\.?\s*$",
        read: |c| {
            let who = Who { container_name: c.text("name"), ..Who::role(Role::Main) };
            vec![Claim::new(What::OomReported { by: "Bitbucket", scope: Scope::Cgroup }, who)]
        },
        samples: &["Container 'Build' exceeded memory limit."],
        near_misses: &["the container 'Build' exceeded memory limits"],
    },
    // buildkite/agent-stack-k8s: the agent does not know; what it adds is a guess.
    Pattern {
        id: "buildkite/unknown",
        witness: Witness::Supervisor,
        stems: &["Unknown container exit status"],
        regex: r"^(?:\+\+\+ )?Unknown container exit status\b",
        read: |_| vec![Claim::new(What::Ended { how: How::Vanished, hint: false }, Who::role(Role::Job))],
        samples: &["+++ Unknown container exit status"],
        near_misses: &["an Unknown container exit status"],
    },
    // actions/toolkit's and azure-pipelines-task-lib's exec, which wrap a tool.
    Pattern {
        id: "ci/tool",
        witness: Witness::Arithmetic,
        stems: &["' failed with exit code "],
        regex: r"^(?:##\[error\]|::error::|Error: )?The process '[^']+' failed with exit code (?<code>[1-9]\d*)\s*$",
        read: coded,
        samples: &[
            "##[error]The process '/usr/bin/docker' failed with exit code 137",
            "Error: The process '/usr/bin/python' failed with exit code 135",
        ],
        near_misses: &["The process '/usr/bin/docker' failed with exit code 0"],
    },
];
