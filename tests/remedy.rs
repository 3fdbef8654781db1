//! What people are told to type is valid as it stands: every step of every platform is parsed in its own language, with and
//! without numbers, and with names that try to break out.

use std::io::Write as _;
use std::process::{Command, Stdio};

use coroner::fact::{Engine, Shm, Who};
use coroner::remedy::sizing::{Given, Inputs, Sizing, work_out};
use coroner::remedy::{Advice, Case, Form, Platform, Step, advise, say};
use coroner::units::Bytes;
use coroner::verdict::Cause;
use serde_json::Value;

/// A sizing that recommends 832 MiB.
fn sizing() -> Sizing {
    let given = |value| vec![Given::new(value, "train.log:3")];
    work_out(&Inputs { workers: given(8), batch_bytes: given(38_539_264), ..Inputs::default() })
}

/// Somebody whose names are all known.
fn named(name: &str) -> Who {
    let name = Some(name.to_owned());
    Who {
        container_name: name.clone(),
        pod: name.clone(),
        namespace: name.clone(),
        job: name.clone(),
        unit: name,
        ..Who::default()
    }
}

/// All that every platform says, for a case in three stages of knowledge.
fn everything(mut look: impl FnMut(&Advice)) {
    let sizing = sizing();
    let nobody = Who::default();
    let (trainer, hostile) = (named("trainer"), named("$(reboot)\"; '\n- x: {y\u{1b}"));
    let known = Case {
        image: Some("my/image:1"),
        memory_limit: Some(Bytes::mib(1500)),
        shm: Shm::Default(Bytes::mib(64)),
        sizing: Some(&sizing),
        ..Case::new(Cause::OomCgroup, &trainer)
    };
    let hostile = Case { who: &hostile, image: Some("$(reboot)\"'\n}`"), ..known.clone() };
    let above = Case { parent_cgroup: Some("/a/$(reboot)\"'\n.slice"), ..hostile.clone() };
    let cases = [Case::new(Cause::ShmEnospc, &nobody), known, hostile, above];
    for case in cases {
        for platform in Platform::ALL {
            for step in Step::ALL {
                if let Some(advice) = say(*platform, *step, &case) {
                    look(&advice);
                }
            }
        }
    }
}

/// Whether a shell can read a command; nothing is run.
fn shell_reads(command: &str) -> bool {
    let mut shell = Command::new("sh").args(["-n", "-s"]).stdin(Stdio::piped()).spawn().expect("there is a shell");
    shell.stdin.take().expect("it was piped").write_all(command.as_bytes()).expect("the shell reads");
    shell.wait().expect("the shell ends").success()
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

#[test]
fn every_snippet_parses_in_its_language() {
    let mut commands = Vec::new();
    let mut seen = 0;
    everything(|advice| {
        let text = advice.command.as_deref().unwrap_or_default();
        seen += 1;
        match advice.form {
            Form::Yaml => assert!(yaml(text).is_object(), "{advice:?}"),
            Form::Json => assert!(serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()), "{advice:?}"),
            Form::Shell => commands.extend(text.lines().map(|line| line.replace('…', "--option"))),
            Form::Toml => {
                assert!(text.lines().all(|line| line.trim_start().starts_with('[') || line.contains(" = ")), "{advice:?}")
            }
            Form::Text => {}
        }
        assert!(advice.text.ends_with('.') || advice.text.ends_with('?'), "{advice:?}");
        assert!(!advice.text.contains("  ") && !advice.text.contains(".."), "{advice:?}");
        assert!(!text.contains('\u{1b}'), "{advice:?}");
    });
    assert!(seen > 500, "{seen}");
    commands.sort();
    commands.dedup();
    for command in &commands {
        // Whatever stands in a name must not be run: it is only ever inside of single quotes.
        assert!(
            !command.replace("'$(reboot)\"; '\\'''", "").contains("$(reboot)") || command.contains("'$(reboot)"),
            "{command}"
        );
    }
    assert!(shell_reads(&commands.join("\n")), "{}", commands.join("\n"));
}

#[test]
fn every_platform_says_how_to_get_more_room() {
    let who = Who::default();
    let case = Case::new(Cause::ShmEnospc, &who);
    for platform in Platform::ALL.iter().filter(|platform| **platform != Platform::Code) {
        for step in [Step::RaiseShm, Step::RaiseMemory, Step::RaiseBoth] {
            assert!(say(*platform, step, &case).is_some(), "{platform:?} {step:?}");
        }
    }
}

#[test]
fn the_worked_out_size_stands_in_the_unit_of_each_platform() {
    let sizing = sizing();
    let who = named("trainer");
    let case = Case {
        sizing: Some(&sizing),
        image: Some("my/image:1"),
        memory_limit: Some(Bytes::mib(4096)),
        ..Case::new(Cause::ShmEnospc, &who)
    };
    for (platform, part) in [
        (Platform::Docker, "docker run --shm-size=832m"),
        (Platform::Podman, "podman run --shm-size=832m"),
        (Platform::Compose, "shm_size: 832m"),
        (Platform::Kubernetes, "sizeLimit: 832Mi"),
        (Platform::Ecs, "\"sharedMemorySize\": 832"),
        (Platform::AwsBatch, "\"sharedMemorySize\": 832"),
        (Platform::AzureMl, "shm_size: 832m"),
        (Platform::Ray, "sizeLimit: 832Mi"),
        (Platform::Determined, "shm_size: 872415232"),
        (Platform::Lxc, "size=832m,create=dir 0 0"),
        (Platform::Nspawn, "TemporaryFileSystem=/dev/shm:size=832M"),
        (Platform::Systemd, "TemporaryFileSystem=/dev/shm:size=832M"),
        (Platform::DevContainer, "\"--shm-size=832m\""),
        (Platform::GitHub, "options: --shm-size=832m"),
        (Platform::GitLab, "shm_size = 872415232"),
        (Platform::Jenkins, "args '--shm-size=832m'"),
        (Platform::Vertex, "--shm-size=832m"),
        (Platform::Linux, "mount -o remount,size=832m /dev/shm"),
    ] {
        let said = say(platform, Step::RaiseShm, &case).and_then(|advice| advice.command).unwrap_or_default();
        assert!(said.contains(part), "{platform:?}: {said}");
    }
    let pod = yaml(&say(Platform::Kubernetes, Step::RaiseShm, &case).and_then(|advice| advice.command).unwrap_or_default());
    let container = &pod["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["name"], "trainer");
    assert_eq!(container["volumeMounts"][0]["mountPath"], "/dev/shm");
    assert_eq!(container["resources"]["limits"]["memory"], "5Gi");
}

#[test]
fn the_platform_is_the_one_that_the_evidence_shows() {
    let first = |case: &Case<'_>| advise(case).first().map(|advice| advice.platform);
    let nobody = Who::default();
    let of = |who, engine, speakers| Case { engine, speakers, ..Case::new(Cause::ShmEnospc, who) };
    let pod = Who { pod: Some("trainer-0".to_owned()), ..Who::default() };
    let unit = Who { unit: Some("train.service".to_owned()), ..Who::default() };
    let job = Who { job: Some("4711".to_owned()), ..Who::default() };
    for (case, platform) in [
        (of(&nobody, Some(Engine::Docker), &[][..]), Platform::Docker),
        (of(&nobody, Some(Engine::Podman), &[]), Platform::Podman),
        (of(&nobody, Some(Engine::Kubernetes), &[]), Platform::Kubernetes),
        (of(&nobody, Some(Engine::Ecs), &[]), Platform::Ecs),
        (Case { fargate: true, ..of(&nobody, Some(Engine::Ecs), &[]) }, Platform::Fargate),
        (of(&pod, None, &[]), Platform::Kubernetes),
        (of(&job, None, &["slurm/oom-kill"]), Platform::Slurm),
        (of(&unit, None, &["systemd/oom"]), Platform::Systemd),
        (of(&nobody, None, &["github/exit"]), Platform::GitHub),
        (of(&nobody, None, &["gitlab/exit"]), Platform::GitLab),
        (of(&nobody, None, &["jenkins/exit"]), Platform::Jenkins),
        (of(&nobody, None, &["ray/memory"]), Platform::Ray),
        (of(&nobody, None, &[]), Platform::Any),
    ] {
        assert_eq!(first(&case), Some(platform));
    }
    let asked = Case { platforms: &[Platform::Lxc], ..of(&nobody, Some(Engine::Docker), &[]) };
    assert_eq!(first(&asked), Some(Platform::Lxc));
    // Without evidence the three commonest have a line each.
    let guessed = advise(&of(&nobody, None, &[]));
    let lines = guessed[0].command.as_deref().unwrap_or_default();
    for part in ["docker run --shm-size=SIZE", "shm_size: SIZE", "sizeLimit: SIZE"] {
        assert!(lines.contains(part), "{lines}");
    }
}
