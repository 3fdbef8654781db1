//! Log archives of GitHub Actions: a folder of steps for each job, and beside it the whole job's text once more.

use std::collections::HashSet;

/// The files among these that repeat what stands in a folder of steps: `0_build.txt` beside `build/1_Set up job.txt`.
///
/// Some archives have the whole jobs only; nothing is left out of these.
pub(crate) fn doubles<T: AsRef<str>>(names: &[T]) -> HashSet<usize> {
    let steps: HashSet<&str> = names.iter().filter_map(|name| step(name.as_ref())).collect();
    if steps.is_empty() {
        return HashSet::new();
    }
    let double = |name: &str| whole(name).is_some_and(|job| steps.contains(job.as_str()));
    (0..names.len()).filter(|index| names.get(*index).is_some_and(|name| double(name.as_ref()))).collect()
}

/// The folder of a step's file: `build` of `build/3_Run tests.txt`.
fn step(name: &str) -> Option<&str> {
    let (folder, file) = name.rsplit_once('/')?;
    numbered(file).map(|_| folder)
}

/// The folder that would hold the steps of a whole job's file: `logs/build` of `logs/0_build.txt`.
pub(crate) fn whole(name: &str) -> Option<String> {
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(folder, file)| (folder, file));
    let job = numbered(file)?;
    Some(if folder.is_empty() { job.to_owned() } else { format!("{folder}/{job}") })
}

/// The name behind the number: `build` of `0_build.txt`, and of the older `-2147483648_build.txt`.
fn numbered(file: &str) -> Option<&str> {
    let (number, rest) = file.strip_suffix(".txt")?.split_once('_')?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::doubles;

    #[test]
    fn whole_jobs_are_left_out_beside_their_steps_only() {
        let names = ["0_build.txt", "build/1_Set up job.txt", "build/2_Run.txt", "1_lint.txt", "-2147483648_build.txt"];
        let mut found: Vec<usize> = doubles(&names).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [0, 4]);
        assert!(doubles(&["0_build.txt", "1_lint.txt"]).is_empty());
        assert_eq!(doubles(&["a/0_b.txt", "a/b/1_x.txt", "0_b.txt"]).into_iter().collect::<Vec<_>>(), [0]);
    }
}
