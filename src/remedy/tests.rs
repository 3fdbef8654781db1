//! Tests of the advice as a whole.

use super::sizing::{Given, Inputs, work_out};
use super::{Case, Filled, MOST, Platform, Step, advise, shell, steps_for};
use crate::death::OomReport;
use crate::fact::{Engine, Shm, Who};
use crate::units::Bytes;
use crate::verdict::Cause;

#[test]
fn every_cause_gets_advice_on_every_platform() {
    let who = Who::default();
    for cause in Cause::ALL {
        let each = Platform::ALL.iter().map(std::slice::from_ref);
        for platforms in each.chain([&[][..]]) {
            let list = advise(&Case { platforms, ..Case::new(*cause, &who) });
            assert!((1..=MOST).contains(&list.len()), "{} {platforms:?}: {list:?}", cause.slug());
            for advice in list {
                assert!(advice.text.ends_with(['.', '?']), "{}", advice.text);
                assert!(!advice.text.contains("  "), "{}", advice.text);
            }
        }
    }
}

#[test]
fn every_step_is_asked_for_by_a_cause() {
    for step in Step::ALL {
        assert!(Cause::ALL.iter().any(|cause| steps_for(*cause).contains(step)), "{}", step.slug());
    }
}

#[test]
fn commands_carry_the_recommended_size() {
    let workers = vec![Given::new(8, "train.log:3")];
    let sizing = work_out(&Inputs { workers, batch_bytes: vec![Given::new(38_539_264, "asked")], ..Inputs::default() });
    let who = Who::default();
    let case = Case {
        engine: Some(Engine::Docker),
        image: Some("my/image:1"),
        shm: Shm::Default(Bytes::mib(64)),
        sizing: Some(&sizing),
        ..Case::new(Cause::ShmEnospc, &who)
    };
    let list = advise(&case);
    assert_eq!(list[0].command.as_deref(), Some("docker run --shm-size=832m … my/image:1"));
    assert!(list[0].text.contains("it had 64 MiB and needs 698.5 MiB"), "{}", list[0].text);
    assert!(list[1].text.contains("prefetch_factor=1 needs 404.5 MiB"), "{}", list[1].text);
    assert!(list[2].command.as_deref().is_some_and(|command| command.contains("--ipc=host")));
    let pod = advise(&Case { engine: Some(Engine::Kubernetes), ..case });
    assert!(pod[0].command.as_deref().is_some_and(|command| command.contains("sizeLimit: 832Mi")));
}

#[test]
fn an_oom_says_that_shm_would_not_have_helped() {
    let who = Who { container_name: Some("trainer".to_owned()), ..Who::default() };
    let case = Case { memory_limit: Some(Bytes(1_572_864_000)), ..Case::new(Cause::OomCgroup, &who) };
    let list = advise(&case);
    assert_eq!(list[1].command.as_deref(), Some("docker update --memory 3g --memory-swap 3g trainer"));
    assert!(list[1].text.contains("A larger /dev/shm would not have helped."));
    let charged = advise(&Case { cause: Cause::OomShmCharged, ..case });
    assert!(charged[0].text.contains("makes it worse"));
}

#[test]
fn a_limit_above_the_container_is_raised_where_it_stands() {
    let who = Who { container_name: Some("trainer".to_owned()), ..Who::default() };
    let case = |parent| Case {
        memory_limit: Some(Bytes::mib(160)),
        parent_cgroup: Some(parent),
        engine: Some(Engine::Docker),
        ..Case::new(Cause::OomCgroup, &who)
    };
    let list = advise(&case("/lab-c-parent"));
    assert!(list[1].text.contains("of 160 MiB, here to 512 MiB, on the cgroup /lab-c-parent"), "{}", list[1].text);
    let command = list[1].command.as_deref().unwrap_or_default();
    assert!(command.starts_with("echo 512M > /sys/fs/cgroup/lab-c-parent/memory.max\n"), "{command}");
    let list = advise(&case("/batch.slice/batch-gpu.slice"));
    assert_eq!(list[1].command.as_deref(), Some("systemctl set-property batch-gpu.slice MemoryMax=512M"));
    let list = advise(&case("/$(reboot)"));
    assert!(list[1].command.as_deref().is_some_and(|command| command.contains("'/sys/fs/cgroup/$(reboot)/memory.max'")));
}

#[test]
fn names_cannot_break_out_of_commands() {
    assert_eq!(shell("trainer-1"), "trainer-1");
    assert_eq!(shell("a b"), "'a b'");
    assert_eq!(shell("x; rm -rf '$HOME'"), r"'x; rm -rf '\''$HOME'\'''");
    assert_eq!(shell("a\nb\x1b"), "'a?b?'");
    assert_eq!(shell(""), "''");
    assert_eq!(shell("--privileged"), "privileged");
    let who = Who { container_name: Some("$(reboot)".to_owned()), ..Who::default() };
    let list = advise(&Case::new(Cause::OomCgroup, &who));
    assert!(list[1].command.as_deref().is_some_and(|command| command.ends_with(" '$(reboot)'")));
}

#[test]
fn a_limit_that_shared_memory_filled_gets_room_for_both() {
    let who = Who { container_name: Some("trainer".to_owned()), ..Who::default() };
    let report = OomReport {
        limit: Some(Bytes::mib(1024)),
        usage: Some(Bytes::mib(1024)),
        anon: Some(Bytes::mib(224)),
        shmem: Some(Bytes::mib(800)),
        ..OomReport::default()
    };
    let filled = Filled::of(&report);
    let case = Case {
        memory_limit: report.limit,
        filled: Some(&filled),
        shm: Shm::Sized(Bytes::mib(2048)),
        ..Case::new(Cause::OomShmCharged, &who)
    };
    let list = advise(&case);
    assert!(
        list[0].text.starts_with("Shared memory filled the limit of 1 GiB: 800 MiB (anonymous memory 224 MiB)."),
        "{}",
        list[0].text
    );
    // 224 MiB of the processes and 2 GiB of /dev/shm, with a tenth more.
    let command = list[0].command.as_deref().unwrap_or_default();
    assert_eq!(command, "docker run --memory=2560m --memory-swap=2560m --shm-size=2g … IMAGE");
}
