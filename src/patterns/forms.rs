//! The logs whose lines the patterns read, as rows of the table of inputs.

use crate::seen::Form;

/// Each log, with the speakers (the part of a pattern's id before the stroke) that are heard mostly in it. The speakers that
/// no row names are heard in the job's own log, which is the first row.
pub static LOGS: &[(Form, &[&str])] = &[
    (
        Form {
            name: "the job's own log",
            how: "torchrun … train.py 2>&1 | tee train.log",
            proves: "which worker or rank died of which signal, a full /dev/shm that a program reports, exceptions, settings",
        },
        &[],
    ),
    (
        Form {
            name: "limits: ulimit, /proc/PID/limits, prlimit; ipcs -l for System V shared memory",
            how: "ulimit -a; cat /proc/PID/limits; ipcs -lm",
            proves: "nothing of a death; which limit a refusal met. Nothing about /dev/shm, which is not System V memory",
        },
        &["limits"],
    ),
    (
        Form {
            name: "kernel log",
            how: "dmesg -T, journalctl -k",
            proves: "kill for memory with victim, cgroup and limit; faults of memory hardware, segmentation faults",
        },
        &["kernel"],
    ),
    (
        Form {
            name: "system journal, syslog",
            how: "journalctl --since '1 hour ago'",
            proves: "kills by systemd-oomd and earlyoom, kills for memory in a unit, core dumps, kills by sudo",
        },
        &["systemd", "oomd", "sudo"],
    ),
    (
        Form {
            name: "container log, also of kubectl, Compose, CRI and logging services",
            how: "docker logs NAME, kubectl logs NAME --previous",
            proves: "what the job's own log proves",
        },
        &[],
    ),
    (
        Form {
            name: "engine and Nomad events and container tables as text",
            how: "docker events --since 2h --until 0s; docker ps -a; ctr events",
            proves: "who sent the signal, kills for memory, exit codes",
        },
        &["engine", "compose", "containerd", "nomad"],
    ),
    (
        Form {
            name: "logs of kubelet, containerd, dockerd, Podman",
            how: "journalctl -u kubelet -u containerd -u docker",
            proves: "kill for memory in a container, eviction, failed probes, stops that timed out",
        },
        &["kubelet", "containerd", "runc", "kubectl", "kubeflow", "dockerd", "podman"],
    ),
    (
        Form {
            name: "Slurm's logs and the output of srun and sbatch",
            how: "cat slurm-ID.out; on the node: slurmd.log, slurmctld.log",
            proves: "kill for memory in a job step, signal of each task, time limit, preemption, scancel",
        },
        &["slurm"],
    ),
    (
        Form {
            name: "LSF, PBS and Torque, Grid Engine, HTCondor",
            how: "bjobs -l ID; qstat -xf ID; the job's report, log or mail",
            proves: "kills by the scheduler for memory or time, signal, exit code",
        },
        &["lsf", "pbs", "sge", "condor", "flux", "submitit"],
    ),
    (
        Form {
            name: "YARN and Spark",
            how: "yarn logs -applicationId ID",
            proves: "kills by YARN for memory; exit codes of executors",
        },
        &["yarn", "spark"],
    ),
    (
        Form {
            name: "cloud and platform logs (Cloud Run, Vertex AI, SageMaker, Azure ML, Databricks, Determined, SkyPilot)",
            how: "gcloud logging read …; aws logs tail NAME; det task logs ID; sky logs NAME",
            proves: "kill for memory (Cloud Run, Vertex AI), else an exit code",
        },
        &["cloud-run", "vertex", "google-batch", "sagemaker", "azureml", "databricks", "platform"],
    ),
    (
        Form {
            name: "logs of hosted applications (Heroku, Fly.io, Cloud Foundry, Hugging Face, AWS Lambda)",
            how: "heroku logs; fly logs; cf logs NAME --recent; aws logs tail NAME",
            proves: "kill for memory, a stop that took too long, the time limit of a call",
        },
        &["heroku", "fly", "cf", "huggingface", "lambda"],
    ),
    (
        Form {
            name: "CI logs (GitHub, GitLab, Jenkins, Buildkite, CircleCI, Azure, Travis, Bitbucket)",
            how: "gh run view ID --log",
            proves: "exit code; a runner that was lost, a time limit. What a CI says of memory is a guess",
        },
        &["ci", "travis", "bitbucket", "github", "gitlab", "jenkins", "buildkite", "circleci", "azure"],
    ),
];

#[cfg(test)]
mod tests {
    use super::LOGS;
    use crate::patterns::GATE;

    #[test]
    fn every_speaker_of_a_row_has_patterns() {
        for (form, speakers) in LOGS {
            for speaker in *speakers {
                let own = |id: &str| id.split('/').next() == Some(*speaker);
                assert!(GATE.patterns.iter().any(|(pattern, _)| own(pattern.id)), "{speaker} of {}", form.name);
            }
        }
    }
}
