//! What is told of deaths where several inputs or lines speak of one, on the screen and in JSON.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::support::*;

#[test]
fn a_death_has_the_time_of_its_end_and_not_of_the_first_request() {
    let case = "fixtures/unknown/docker26-docker-stop-timeout";
    let output = run(Path::new("."), &["--format", "json", &format!("{case}/events.jsonl"), &format!("{case}/inspect.json")]);
    let report = json(&output);
    assert_eq!(report["deaths"][0]["signal"], "SIGKILL");
    assert_eq!(report["deaths"][0]["time"], "2026-12-01T06:59:32.796948279Z");
}

#[test]
fn a_limit_that_the_kernel_leaves_out_is_the_containers() {
    let id = "6dceaf0149ad6dceaf0149ad6dceaf0149ad6dceaf0149ad6dceaf0149ad1234";
    let scope = format!("/system.slice/docker-{id}.scope");
    let kernel = format!(
        "[Mon Nov 30 06:36:52 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg={scope},\
         task_memcg={scope},task=pt_data_worker,pid=13585,uid=0\n[Mon Nov 30 06:36:52 2026] Memory cgroup out of memory: Killed process 13585 \
         (pt_data_worker) total-vm:5000000kB, anon-rss:919600kB, file-rss:1000kB, shmem-rss:20000kB, UID:0 pgtables:2392kB \
         oom_score_adj:0\n"
    );
    let inspect = |memory: u64| {
        format!(
            r#"[{{"Id":"{id}","Created":"2026-11-30T06:36:40Z","Name":"/trainer","State":{{"Status":"exited","OOMKilled":true,"ExitCode":1,"StartedAt":"2026-11-30T06:36:41Z","FinishedAt":"2026-11-30T06:36:54Z"}},"HostConfig":{{"Memory":{memory},"ShmSize":67108864,"IpcMode":"private"}},"Config":{{"Image":"my/img:1"}}}}]"#
        )
    };
    for (memory, limit) in [(1_572_864_000, Value::from(1_572_864_000)), (0, Value::Null)] {
        let folder = folder(&[("dmesg.txt", kernel.as_bytes()), ("inspect.json", inspect(memory).as_bytes())]);
        let report = json(&run(folder.path(), &["--format", "json", "."]));
        let picture = &report["deaths"][0]["memory"];
        assert_eq!((&picture["limit"], &picture["anon"]), (&limit, &Value::Null), "{report:#}");
        assert!(picture["tasks"].to_string().contains("pt_data_worker"), "{picture}");
    }
}

#[test]
fn a_volume_of_which_only_the_name_is_known_is_not_said_to_be_a_disk_for_sure() {
    let event = "LAST SEEN   TYPE      REASON    OBJECT        MESSAGE\n\
                 3m12s       Warning   Evicted   pod/train-0   Usage of EmptyDir volume \"scratch\" exceeds the limit \"12Gi\".\n";
    let report = report_on(event.as_bytes());
    assert_eq!(report["verdict"]["grade"], "suspected");
    assert!(report["deaths"][0]["lacking"].to_string().contains("kubectl get pod train-0 -o yaml"), "{report:#}");
}

#[test]
fn a_message_that_a_terminal_broke_is_read_to_its_end() {
    for message in [
        "RuntimeError: unable to write to file \n</torch_18832_2517339012_14>: No space left on \ndevice (28)\n",
        "RuntimeError: unable to allocate shared memory(shm) for file \n</torch_18832_2517339012_14>: No space left on \ndevice (28)\n",
        "OSError: [Errno 28] No space left on device: \n'/psm_1a2b3c4d'\n",
        "OSError: [Errno 28] No space left on \ndevice: '/dev/shm/joblib_memmapping_folder_1/x.pkl'\n",
    ] {
        let text = format!("Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g()\n{message}");
        let report = report_on(text.as_bytes());
        assert_eq!(report["verdict"]["cause"], "shm-enospc", "{message}");
        assert_eq!(report["deaths"].as_array().map(Vec::len), Some(1), "{message}");
    }
}

#[test]
fn what_only_the_machine_tells_is_not_sure_to_be_of_a_log_that_ended_well() {
    let finished: &[u8] = b"2024-11-02 18:02:10 step 5\n2024-11-02 18:02:11 Training finished successfully.\n";
    for line in [
        "[Sat Nov  2 10:02:12 2024] Out of memory: Killed process 3312 (python) total-vm:12112004kB, anon-rss:2110044kB, \
         file-rss:0kB, shmem-rss:88112kB, UID:1000 pgtables:12044kB oom_score_adj:300\n",
        "[Sat Nov  2 10:02:12 2024] amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n",
    ] {
        let folder = folder(&[("dmesg.txt", line.as_bytes()), ("train.log", finished)]);
        let report = json(&run(folder.path(), &["--format", "json", "."]));
        assert_eq!(report["verdict"]["grade"], "suspected", "{line}");
    }
}

#[test]
fn a_counter_at_zero_speaks_against_memory_only_after_the_death() {
    let (killed, zero) = ("epoch 1\nKilled\n", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n");
    let after = report_on(format!("{killed}+ cat /sys/fs/cgroup/memory.events\n{zero}").as_bytes());
    assert_eq!((&after["verdict"]["cause"], &after["verdict"]["grade"]), (&"sigkill-unexplained".into(), &"suspected".into()));
    let before = report_on(format!("+ cat /sys/fs/cgroup/memory.events\n{zero}{killed}").as_bytes());
    assert_eq!(before["verdict"]["cause"], "oom-suspected");
}

/// The report for people on files that are named with a long path.
fn screen(files: &[(&str, &[u8])]) -> String {
    let folder = folder(files);
    let root = folder.path().join("a folder with a long name/and another one in it");
    fs::create_dir_all(&root).expect("there is room for a folder");
    for (name, _) in files {
        fs::rename(folder.path().join(name), root.join(name)).expect("both lie in one folder");
    }
    String::from_utf8(run(Path::new("."), &[&*root.to_string_lossy()]).stdout).expect("reports are UTF-8")
}

#[test]
fn a_size_that_cannot_be_worked_out_takes_two_lines() {
    let hint = "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n";
    let killed = "RuntimeError: DataLoader worker (pid 301) is killed by signal: Bus error. It is possible that dataloader's \
                  workers are out of shared memory. Please try to raise your shared memory limit.\n";
    let gone = "RuntimeError: DataLoader worker (pid(s) 301) exited unexpectedly\n";
    let log = format!("batch size 256, 16 workers, prefetch factor 2\n{hint}{killed}\n{gone}");
    let text = screen(&[("train.log", log.as_bytes()), ("notes.txt", b"nothing here\n")]);
    // No folder stands before each place, and what is lacking for the size is said with what to type.
    assert!(!text.contains("and another one"), "{text}");
    assert!(text.contains("workers 16 (train.log:1), prefetch 2 (train.log:1), batch size 256 (train.log:1)"), "{text}");
    assert!(text.contains("unknown   batch bytes   coroner size --from LOG --batch-bytes SIZE"), "{text}");
}

#[test]
fn other_deaths_tell_who_died_and_do_not_fill_the_screen() {
    let lines: String = (0..20)
        .map(|n| {
            let pid = 5100 + n;
            format!(
                "[  {}.000000] burst_{n}[{pid}]: segfault at 10 ip 000055e81bc213c0 sp 00007ffedbb6ca00 error 6 in hog[13c0,55e81bc21000+1000]\n",
                100 + n
            )
        })
        .collect();
    let text = screen(&[("dmesg.txt", lines.as_bytes())]);
    let (_, others) = text.split_once("other deaths\n").unwrap_or_else(|| panic!("{text}"));
    let others: Vec<&str> = others.lines().collect();
    assert_eq!(others.len(), 7, "{text}");
    assert!(others[..6].iter().all(|line| line.contains("(pid 51")), "{text}");
    assert_eq!(others[6], "  and 13 more; --format json has them all", "{text}");
}

#[test]
fn lines_of_another_log_do_not_hide_what_a_tool_gathered() {
    let other: String = (0..20).map(|step| format!("Epoch 3 step {step} loss 0.234\n")).collect();
    for case in ["stern-two-pods-shm-enospc/stern.log", "pdsh-host-prefix-worker-bus-error/all-nodes.log"] {
        let gathered = fs::read_to_string(Path::new("fixtures/shm-exhaustion").join(case)).expect("the case is there");
        let alone = report_on(gathered.as_bytes());
        for both in [format!("{other}{gathered}"), format!("{gathered}{other}")] {
            let report = report_on(both.as_bytes());
            assert_eq!(report["verdict"]["cause"], alone["verdict"]["cause"], "{case}");
            assert_eq!(class(&report), "shm-exhaustion");
        }
    }
}
