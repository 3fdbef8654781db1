//! Identity: whether two descriptions can be of the same process, by ids, names and clocks.

use super::{Aside, Death, Join};
use crate::fact::{ContainerEvent, Role, What, Who};
use crate::time::{Gap, Stamp};

/// How far apart two clocks may be for one event, in seconds: `dmesg -T` drifts, containers are seen to end late.
pub(super) const SAME_TIME: f64 = 120.0;

/// How far apart two clocks of unknown zone must be to be of different moments whatever their zones, in seconds.
const ANY_ZONE: f64 = 15.0 * 3600.0;

/// The step of time zones (three zones lie on quarter hours), in seconds.
const HALF_HOUR: f64 = 1800.0;

/// How two descriptions relate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Relation {
    /// They name the same thing.
    Same(Join),
    /// They name different things, or moments too far apart.
    Other(Aside),
    /// Nothing that both tell decides; `near` where comparable clocks agree.
    Open {
        /// How near the clocks are, where they can be compared and agree.
        near: Option<Gap>,
    },
}

/// Whether two names or numbers can be the same: one is not known, or they are equal.
pub(super) fn agree<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
    one.is_none() || other.is_none() || one == other
}

/// Whether two container ids can be the same: engines print 12 digits or all 64.
pub(super) fn agree_id(one: &Option<String>, other: &Option<String>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let id = |text: &str| text.len() >= 12 && text.bytes().all(|b| b.is_ascii_hexdigit());
    one == other || id(one) && id(other) && (one.starts_with(other.as_str()) || other.starts_with(one.as_str()))
}

/// Whether two names of containers can be the same: Compose shows the service (`train-1`) of a container that the engine calls
/// after the project as well (`asr-train-1`, `asr_train_1`).
pub(super) fn same_name(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let numbered = |name: &str| {
        let (service, number) = name.rsplit_once(['-', '_'])?;
        (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then(|| (service.to_owned(), number.to_owned()))
    };
    let project = || {
        let ((short, one), (long, other)) = (numbered(short)?, numbered(long)?);
        let project = long.strip_suffix(short.as_str())?;
        Some(one == other && project.len() > 1 && project.ends_with(['-', '_']))
    };
    one == other || project().unwrap_or(false)
}

/// Whether two names of machines are of one series and differ (`gpu-03`, `gpu-07`). Other names may be one machine's: a
/// container has a host name of its own.
pub(super) fn other_machine(one: &str, other: &str) -> bool {
    // An address has no domain to cut off.
    let short = |name: &str| match name.parse::<std::net::IpAddr>() {
        Ok(_) => name.to_owned(),
        Err(_) => name.split('.').next().unwrap_or(name).to_ascii_lowercase(),
    };
    let (one, other) = (short(one), short(other));
    let digits = |c: char| c.is_ascii_digit();
    let stem =
        |name: &str| name.split(['-', '.', '_', ':']).map(|part| part.trim_end_matches(digits).to_owned()).collect::<Vec<_>>();
    let letter = |name: &str| name.rsplit_once('-').filter(|(_, last)| last.len() == 1).map(|(stem, _)| stem.to_owned());
    let numbered = one.contains(digits) || other.contains(digits);
    one != other && (numbered && stem(&one) == stem(&other) || letter(&one).is_some() && letter(&one) == letter(&other))
}

/// Compares two descriptions by what both tell.
pub(super) fn compare(one: &Who, other: &Who) -> Relation {
    let both = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some();
    let pods_agree =
        agree(&one.pod, &other.pod) && agree(&one.namespace, &other.namespace) && agree(&one.pod_uid, &other.pod_uid);
    if !pods_agree || !agree_id(&one.container, &other.container) {
        return Relation::Other(Aside::Place);
    }
    if let (Some(a), Some(b)) = (&one.host, &other.host)
        && other_machine(a, b)
    {
        return Relation::Other(Aside::Place);
    }
    if both(&one.container, &other.container) {
        return Relation::Same(Join::Container);
    }
    let same_pod = both(&one.pod_uid, &other.pod_uid) || both(&one.pod, &other.pod);
    let plain = one.pod.is_none() && other.pod.is_none();
    if both(&one.container_name, &other.container_name) && (same_pod || plain) {
        let same = one.container_name.as_deref().zip(other.container_name.as_deref()).is_some_and(|(a, b)| same_name(a, b));
        return if same { Relation::Same(Join::Container) } else { Relation::Other(Aside::Place) };
    }
    let base = |job: &Option<String>| job.as_deref().map(|j| j.split('.').next().unwrap_or(j).to_owned());
    // A task of a Slurm array has two ids, 990123_4 and a plain number: one of each kind decides nothing.
    let array = |job: &Option<String>| job.as_deref().is_some_and(|job| job.contains('_'));
    if both(&one.job, &other.job) && array(&one.job) == array(&other.job) {
        return if base(&one.job) == base(&other.job) { Relation::Same(Join::Job) } else { Relation::Other(Aside::Place) };
    }
    if one.host_pid.is_some() && one.host_pid == other.host_pid {
        return Relation::Same(Join::HostPid);
    }
    if both(&one.unit, &other.unit) {
        return if one.unit == other.unit { Relation::Same(Join::Unit) } else { Relation::Other(Aside::Place) };
    }
    if same_pod {
        return Relation::Same(Join::Pod);
    }
    if one.own_pid.is_some() && one.own_pid == other.own_pid {
        return Relation::Same(Join::SamePid);
    }
    // The main process of a container or unit has children with other pids.
    let main = |who: &Who| matches!(who.role, Role::Main | Role::Unit | Role::Job);
    let differ = one.host_pid.is_some() && other.host_pid.is_some() || one.own_pid.is_some() && other.own_pid.is_some();
    if differ && !main(one) && !main(other) {
        return Relation::Other(Aside::Process);
    }
    Relation::Open { near: None }
}

/// Compares a death with somebody that is told of at some moments.
pub(super) fn relate(death: &Death, who: &Who, times: &[Stamp]) -> Relation {
    let relation = compare(&death.who, who);
    if let Relation::Other(_) = relation {
        return relation;
    }
    let (near, far) = clocks(death, times);
    match relation {
        // The same pid may be given again; the same container may be started again.
        _ if far.is_some() => Relation::Other(Aside::Time),
        Relation::Open { .. } => Relation::Open { near },
        same => same,
    }
}

/// How near to a death the nearest of some moments is, or how far, where it is too far.
pub(super) fn clocks(death: &Death, times: &[Stamp]) -> (Option<Gap>, Option<Gap>) {
    let nearest = |own: &[Stamp]| {
        let gaps = own.iter().flat_map(|a| times.iter().filter_map(|b| a.gap(*b)));
        gaps.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    };
    let told = moments(death);
    let gap = nearest(&told);
    // Zones differ by half hours: two clocks of unknown zone that are 25 minutes apart cannot mean the same moment.
    let off = |seconds: f64| (seconds % HALF_HOUR).min(HALF_HOUR - seconds % HALF_HOUR);
    let too_far = |gap: &Gap| gap.seconds > SAME_TIME && (gap.sure || gap.seconds > ANY_ZONE || off(gap.seconds) > SAME_TIME);
    // What comes below a line with a clock came later: that can show nearness, and distance only from what was before.
    let since: Vec<Stamp> = death.facts.iter().filter_map(|f| f.since).collect();
    let before = |time: &Stamp| since.iter().any(|since| time.before(*since) == Some(true));
    let surely = |gap: &Gap| gap.seconds > if gap.sure { SAME_TIME } else { ANY_ZONE };
    let long_before = (!times.is_empty() && times.iter().all(before)).then(|| nearest(&since)).flatten().filter(surely);
    let far = gap.filter(too_far).or(long_before.filter(|_| gap.is_none()));
    let near = gap.or_else(|| nearest(&since)).filter(|gap| gap.seconds <= SAME_TIME);
    (near, far)
}

/// All moments that the evidence of a death gives for it.
pub(super) fn moments(death: &Death) -> Vec<Stamp> {
    let ends = death.containers().filter_map(|(_, c)| c.finished);
    let said = death
        .facts
        .iter()
        .filter(|f| !matches!(f.what, What::Container(_) | What::Event(ContainerEvent::Started)))
        .flat_map(|f| [f.when, f.boot])
        .flatten();
    ends.chain(said).collect()
}

/// A length of time in words.
pub(super) fn span(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// Whether the kernel's name for the victim fits the process that died.
pub(super) fn plausible(death: &Death, process: &str) -> bool {
    let python = process.starts_with("python") || process.starts_with("pt_") || process.starts_with("ray::");
    match (&death.who.process, death.who.role) {
        // A keeper of processes calls its program by a name of its own.
        (Some(_), Role::Main) if python => true,
        (Some(name), _) => {
            let cut = |text: &str| text.chars().take(15).collect::<String>();
            cut(name) == process || (python && (name.starts_with("python") || name.starts_with("pt_")))
        }
        // From PyTorch 2.5 a worker is `pt_data_worker`; before, it bears its parent's name.
        (None, Role::Worker) => python,
        (None, Role::Unknown) if death.who.own_pid.is_none() => true,
        (None, Role::Rank | Role::Engine | Role::Unknown) => python || process.starts_with("torchrun"),
        (None, Role::Main) => true,
        (None, Role::Launcher | Role::Unit | Role::Job) => python,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::OwnPid;

    fn pod(name: &str, container: &str) -> Who {
        Who { pod: Some(name.to_owned()), container_name: Some(container.to_owned()), ..Who::default() }
    }

    #[test]
    fn names_are_equal_or_different_and_never_prefixes() {
        assert_eq!(compare(&pod("job-1", "trainer"), &pod("job-10", "trainer")), Relation::Other(Aside::Place));
        assert_eq!(compare(&pod("job-1", "trainer"), &pod("job-1", "trainer")), Relation::Same(Join::Container));
        assert_eq!(compare(&pod("job-1", "trainer"), &pod("job-1", "logger")), Relation::Other(Aside::Place));
        assert!(same_name("train-1", "asr-train-1") && same_name("asr_train_1", "train_1"));
        assert!(!same_name("train-1", "asr-train-2") && !same_name("train", "asr-train") && !same_name("n-1", "train-1"));
        let id = |id: &str| Who { container: Some(id.to_owned()), ..Who::default() };
        assert_eq!(compare(&id("6dceaf0149ad"), &id("6dceaf0149ad1f2f3f4f")), Relation::Same(Join::Container));
        assert_eq!(compare(&id("6dceaf0149ad"), &id("6dceaf0149ae")), Relation::Other(Aside::Place));
    }

    #[test]
    fn machines_of_one_series_differ_and_others_may_be_one() {
        assert!(other_machine("gpu-03", "gpu-07.cluster"));
        assert!(other_machine("node-a", "node-b"));
        assert!(other_machine("10.0.0.7", "10.0.0.3"));
        assert!(other_machine("ip-10-0-2-7", "ip-10-0-1-3"));
        assert!(other_machine("node", "node1") && other_machine("node1", "node"));
        assert!(!other_machine("node1", "3f9a1c07be42"));
        assert!(!other_machine("node1", "node1.cluster"));
    }

    #[test]
    fn the_two_ids_of_an_array_task_are_not_compared() {
        let job = |id: &str| Who { job: Some(id.to_owned()), ..Who::default() };
        assert_eq!(compare(&job("990123_4"), &job("990127")), Relation::Open { near: None });
        assert_eq!(compare(&job("990123_4"), &job("990123_5")), Relation::Other(Aside::Place));
        assert_eq!(compare(&job("990127.batch"), &job("990127")), Relation::Same(Join::Job));
    }

    #[test]
    fn two_processes_with_pids_of_one_kind_differ() {
        let own = |pid| Who { own_pid: Some(OwnPid(pid)), ..Who::default() };
        assert_eq!(compare(&own(7), &own(8)), Relation::Other(Aside::Process));
        assert_eq!(compare(&own(7), &own(7)), Relation::Same(Join::SamePid));
    }
}
