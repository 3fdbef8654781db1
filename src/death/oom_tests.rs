//! Kernel reports of every era and with every trap, read from text as users paste it.

use super::OomReport;
use super::oom_block::group;
use crate::input::Source;
use crate::read::read;
use crate::units::Bytes;

fn reports(text: &str) -> Vec<OomReport> {
    group(read(&[Source::stream("dmesg.txt".into(), text.as_bytes())]).facts.iter())
}

fn one(text: &str) -> OomReport {
    let mut all = reports(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn pids(report: &OomReport) -> Vec<u32> {
    report.victims.iter().map(|victim| victim.pid.0).collect()
}

const INVOKED: &str = "[   14.075482] pt_data_worker invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n";
const SHM_WRITTEN: &str = "\
[   14.076362] memory: usage 65536kB, limit 65536kB, failcnt 29
[   14.080055] swap: usage 0kB, limit 9007199254740988kB, failcnt 0
[   14.080161] Memory cgroup stats for /shmw:
[   14.080282] anon 53248
[   14.080394] file 66834432
[   14.080715] shmem 66834432
[   14.081438] inactive_file 0
[   14.083696] Tasks state (memory values in pages):
[   14.083773] [  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name
[   14.083957] [    173]     0   173      505      130        0      130         0    45056        0             0 pt_data_worker
[   14.084146] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/shmw,task_memcg=/shmw/w,task=pt_data_worker,pid=173,uid=0
";
const KILL_173: &str = "[   14.084449] Memory cgroup out of memory: Killed process 173 (pt_data_worker) total-vm:2020kB, anon-rss:0kB, file-rss:520kB, shmem-rss:0kB, UID:0 pgtables:44kB oom_score_adj:0\n";

#[test]
fn the_statistics_tell_shared_memory_that_no_process_maps() {
    let report = one(&[INVOKED, SHM_WRITTEN, KILL_173].concat());
    assert_eq!((report.memcg, report.trigger.as_deref(), report.sysrq), (Some(true), Some("pt_data_worker"), false));
    assert_eq!((report.limit_cgroup.as_deref(), report.victim_cgroup.as_deref()), (Some("/shmw"), Some("/shmw/w")));
    assert_eq!((report.limit, report.usage), (Some(Bytes::mib(64)), Some(Bytes::mib(64))));
    assert_eq!((report.anon, report.shmem, report.cache), (Some(Bytes(53248)), Some(Bytes(66_834_432)), Some(Bytes(0))));
    assert_eq!(pids(&report), [173]);
    assert_eq!(report.tasks.iter().map(|task| (task.pid.0, task.rss)).collect::<Vec<_>>(), [(173, Bytes::kib(520))]);
    assert!(report.facts.len() <= 12 && report.facts.iter().any(|fact| fact.text.starts_with("shmem ")), "{:?}", report.facts);
}

#[test]
fn a_header_without_a_kill_is_no_kill() {
    // The choice is printed right before the kill: with a lost kill line the victim is known, and the report says so.
    let cut = one(&[INVOKED, SHM_WRITTEN].concat());
    assert!(cut.kill_line_lost);
    assert_eq!(pids(&cut), [173]);
    assert_eq!(reports(INVOKED), []);
    assert_eq!(reports("Memory cgroup out of memory: Kill process 32470 (java) score 1094 or sacrifice child\n"), []);
    let skipped = "Memory cgroup out of memory: OOM victim 173 (pt_data_worker) is already exiting. Skip killing the task\n";
    assert_eq!(reports(&[INVOKED, SHM_WRITTEN, skipped].concat()), []);
}

#[test]
fn an_unfinished_report_lends_nothing_to_the_next() {
    let second = "[   19.075482] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n\
                  [   19.084449] Memory cgroup out of memory: Killed process 180 (python) total-vm:2020kB, anon-rss:900kB, file-rss:520kB, shmem-rss:0kB, UID:0 pgtables:44kB oom_score_adj:0\n";
    let all = reports(&[INVOKED, SHM_WRITTEN, second].concat());
    assert_eq!(all.iter().map(|r| r.kill_line_lost).collect::<Vec<_>>(), [true, false]);
    let report = &all[1];
    assert_eq!((report.trigger.as_deref(), report.limit, report.shmem), (Some("python"), None, None));
    assert_eq!(pids(report), [180]);
}

#[test]
fn kills_without_a_header_are_reports_of_their_own() {
    let burst = "\
[  915.100001] Memory cgroup out of memory: Killed process 10997 (burst_11) total-vm:27080kB, anon-rss:24320kB, file-rss:1100kB, shmem-rss:0kB, UID:0 pgtables:92kB oom_score_adj:0
[  915.200001] Memory cgroup out of memory: Killed process 10998 (burst_12) total-vm:27080kB, anon-rss:24320kB, file-rss:1100kB, shmem-rss:0kB, UID:0 pgtables:92kB oom_score_adj:0
[  921.000001] oom_kill_process: 6 callbacks suppressed
";
    let all = reports(&[INVOKED, SHM_WRITTEN, KILL_173, burst].concat());
    assert_eq!(all.iter().map(pids).collect::<Vec<_>>(), [vec![173], vec![10997], vec![10998]]);
    assert!(all.iter().skip(1).all(|r| r.memcg == Some(true) && r.limit.is_none() && r.shmem.is_none()));
}

#[test]
fn a_group_is_one_report_and_its_victim_is_counted_once() {
    let kill = |at: &str, pid: u32, name: &str| {
        format!(
            "[   {at}] Memory cgroup out of memory: Killed process {pid} ({name}) total-vm:35816kB, anon-rss:34356kB, file-rss:632kB, shmem-rss:0kB, UID:0 pgtables:104kB oom_score_adj:0\n"
        )
    };
    let group = "[   13.415109] Tasks in /grp are going to be killed due to memory.oom.group set\n";
    let all = [
        INVOKED.to_owned(),
        kill("13.409165", 169, "rank0_main"),
        group.to_owned(),
        kill("13.415372", 169, "rank0_main"),
        kill("13.415723", 170, "sibling_a"),
        kill("13.416005", 171, "sibling_b"),
    ]
    .concat();
    let report = one(&all);
    assert!(report.group);
    assert_eq!(pids(&report), [169, 170, 171]);
    let later = [all, kill("33.416005", 200, "other")].concat();
    assert_eq!(reports(&later).iter().map(pids).collect::<Vec<_>>(), [vec![169, 170, 171], vec![200]]);
}

#[test]
fn a_record_cut_in_two_is_joined() {
    let cut = "\
[ 2690.019221] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/lvl1/lvl2,task_memcg=
[ 2690.019232] /lvl1/lvl2/lvl3,task=pt_data_worker,pid=14467,uid=0
[ 2690.019241] Memory cgroup out of memory: Killed process 14467 (pt_data_worker) total-vm:63784kB, anon-rss:61184kB, file-rss:1112kB, shmem-rss:0kB, UID:0 pgtables:156kB oom_score_adj:0
";
    let report = one(cut);
    assert_eq!((report.limit_cgroup.as_deref(), report.victim_cgroup.as_deref()), (Some("/lvl1/lvl2"), Some("/lvl1/lvl2/lvl3")));
    assert_eq!(report.constraint.as_deref(), Some("CONSTRAINT_MEMCG"));
}

#[test]
fn names_may_look_like_the_report_itself() {
    let odd = "\
[ 2691.788988] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/demo,task_memcg=/demo,task=a,pid=1,uid=0,pid=14649,uid=0
[ 2691.789002] Memory cgroup out of memory: Killed process 14649 (a,pid=1,uid=0) total-vm:43304kB, anon-rss:40704kB, file-rss:1100kB, shmem-rss:0kB, UID:0 pgtables:120kB oom_score_adj:0
[ 2691.880869] Memory cgroup out of memory: Killed process 14656 (x) total-vm:1) total-vm:43304kB, anon-rss:40704kB, file-rss:988kB, shmem-rss:0kB, UID:0 pgtables:124kB oom_score_adj:0
";
    let names: Vec<_> = reports(odd).into_iter().flat_map(|r| r.victims).map(|v| (v.pid.0, v.process)).collect();
    assert_eq!(names, [(14649, "a,pid=1,uid=0".to_owned()), (14656, "x) total-vm:1".to_owned())]);
}

#[test]
fn linux_3_sums_the_subtree_and_knows_no_shmem() {
    let el7 = "\
[9143134.805765] java invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0
[9143134.805897] Task in /docker/be82/child killed as a result of limit of /docker/be82
[9143134.805906] memory: usage 131072kB, limit 131072kB, failcnt 23913
[9143134.805910] memory+swap: usage 131072kB, limit 18014398509481983kB, failcnt 0
[9143134.805920] Memory cgroup stats for /docker/be82: cache:100000KB rss:1000KB rss_huge:0KB mapped_file:72KB inactive_anon:0KB active_anon:99000KB inactive_file:72KB active_file:16KB unevictable:0KB
[9143134.805921] Memory cgroup stats for /docker/be82/child: cache:96KB rss:29976KB rss_huge:57344KB mapped_file:72KB inactive_anon:0KB active_anon:30932KB inactive_file:72KB active_file:16KB unevictable:0KB
[9143134.805927] [ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name
[9143134.805940] [32470]     0 32470  1198447    35811     113        0             0 java
[9143134.805949] Memory cgroup out of memory: Kill process 32470 (java) score 1094 or sacrifice child
[9143134.805953] Killed process 32471 (java), UID 48, total-vm:4793788kB, anon-rss:29880kB, file-rss:12364kB, shmem-rss:0kB
";
    let report = one(el7);
    assert_eq!(pids(&report), [32471], "the announced process is not the killed one");
    assert_eq!((report.memcg, report.limit), (Some(true), Some(Bytes::kib(131_072))));
    assert_eq!(
        (report.limit_cgroup.as_deref(), report.victim_cgroup.as_deref()),
        (Some("/docker/be82"), Some("/docker/be82/child"))
    );
    assert_eq!((report.anon, report.shmem), (Some(Bytes::kib(30_976)), Some(Bytes::kib(99_920))));
    assert_eq!(report.cache, Some(Bytes::kib(176)));
}

#[test]
fn linux_2_6_puts_the_uid_before_the_name() {
    let el6 = "\
mysqld invoked oom-killer: gfp_mask=0x201da, order=0, oom_adj=0, oom_score_adj=0
[ pid ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name
[ 1242]     0  1242     2718      200   0       0             0 dhclient
Out of memory: Kill process 4321 (httpd) score 87 or sacrifice child
Killed process 4321, UID 48, (httpd) total-vm:412000kB, anon-rss:30000kB, file-rss:120kB
";
    let report = one(el6);
    assert_eq!((report.memcg, pids(&report)), (Some(false), vec![4321]));
    assert_eq!((report.tasks.len(), report.anon, report.shmem), (1, Some(Bytes::kib(30_000)), None));
}

#[test]
fn cgroup_v1_of_6_5_counts_the_subtree_in_its_totals() {
    let pod = "\
[  834.819758] memory: usage 81920kB, limit 81920kB, failcnt 149
[  834.819768] Memory cgroup stats for /kubepods/burstable/pod0b1c2d3e:
[  834.819790] cache 0
[  834.819792] rss 0
[  834.819794] shmem 0
[  834.819814] total_cache 4096
[  834.819815] total_rss 83456000
[  834.819817] total_shmem 4096
[  834.819902] Memory cgroup out of memory: Killed process 10271 (pt_data_worker) total-vm:84264kB, anon-rss:81024kB, file-rss:996kB, shmem-rss:0kB, UID:0 pgtables:196kB oom_score_adj:0
";
    let report = one(pod);
    assert_eq!((report.anon, report.shmem, report.cache), (Some(Bytes(83_456_000)), Some(Bytes(4096)), Some(Bytes(0))));
    assert!(report.facts.iter().all(|fact| fact.text != "rss 0"), "the plain zeros are not quoted");
}

#[test]
fn a_machine_full_of_tmpfs_shows_it_in_its_page_counts() {
    let global = "\
[   31.886382] pt_data_worker invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0
[   31.891652] active_anon:3 inactive_anon:54225 isolated_anon:0
                active_file:1 inactive_file:2 isolated_file:0
                mapped:573 shmem:54205 pagetables:21
[   31.894957] 81790 pages RAM
[   31.895068] 18439 pages reserved
[   31.895553] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=pt_data_worker,pid=214,uid=0
[   31.895849] Out of memory: Killed process 214 (pt_data_worker) total-vm:2020kB, anon-rss:52kB, file-rss:632kB, shmem-rss:0kB, UID:0 pgtables:44kB oom_score_adj:0
";
    let report = one(global);
    assert_eq!((report.memcg, report.limit, report.limit_cgroup.as_deref()), (Some(false), None, None));
    assert_eq!((report.shmem, report.anon), (Some(Bytes(54_205 * 4096)), Some(Bytes(23 * 4096))));
    assert_eq!((report.usage, report.cache), (Some(Bytes((81_790 - 18_439) * 4096)), Some(Bytes(3 * 4096))));
}

#[test]
fn large_pages_are_learned_from_the_victims_row() {
    let arm = "\
[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[    214]     0   214      505      171    45056        0             0 3 odd names
Out of memory: Killed process 214 (3 odd names) total-vm:32320kB, anon-rss:52kB, file-rss:632kB, shmem-rss:0kB, UID:0 pgtables:44kB oom_score_adj:0
";
    let report = one(arm);
    assert_eq!(report.tasks.first().map(|task| (task.process.as_str(), task.rss)), Some(("3 odd names", Bytes::kib(171 * 64))));
}

#[test]
fn the_same_report_twice_is_one() {
    let wall = "Dec 01 06:55:40 node1 kernel: Memory cgroup out of memory: Killed process 173 (pt_data_worker) total-vm:2020kB, anon-rss:0kB, file-rss:520kB, shmem-rss:0kB, UID:0 pgtables:44kB oom_score_adj:0\n";
    let report = one(&[wall, INVOKED, SHM_WRITTEN, KILL_173].concat());
    assert!(report.facts.len() > 4, "the fuller one stays");
    let first = one(KILL_173);
    assert!(first.same(&one(wall)));
    let other = one(&KILL_173.replace("14.084449", "99.084449"));
    assert!(!first.same(&other), "another boot gave the same pid");
}

#[test]
fn other_lines_between_do_not_matter() {
    let noise =
        "[   14.080200] docker0: port 1(veth2b9e3ff) entered disabled state\n[   14.080201] audit: type=1400 audit(1.2:3): x\n";
    let plain = one(&[INVOKED, SHM_WRITTEN, KILL_173].concat());
    let (head, tail) = SHM_WRITTEN.split_at(SHM_WRITTEN.find("[   14.080394]").unwrap());
    let mixed = one(&[INVOKED, head, noise, tail, noise, KILL_173].concat());
    assert_eq!((mixed.shmem, mixed.limit, mixed.victims.len()), (plain.shmem, plain.limit, 1));
}
