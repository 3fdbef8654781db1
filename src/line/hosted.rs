//! Takes off what the log routers of hosting platforms put behind their stamp: Heroku, Fly.io, Cloud Foundry.

use super::Envelope;
use super::open::Rest;
use crate::time::Stamp;

/// `heroku[worker.1]: ` and `app[worker.1]: ` of Heroku, `app[4d89] ord [info] ` of Fly.io.
pub(super) fn dyno<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    envelope.when?;
    let rest = text.strip_prefix("heroku[").or_else(|| text.strip_prefix("app["))?;
    let (name, rest) = rest.split_once(']').filter(|(name, _)| name.len() <= 40 && !name.contains(' '))?;
    let rest = match rest.strip_prefix(": ") {
        Some(rest) => rest,
        None => {
            let (region, rest) = rest.strip_prefix(' ')?.split_once(' ')?;
            let (level, rest) = super::kernel::bracketed(rest)?;
            let known = region.len() == 3 && ["info", "warn", "error", "debug"].contains(&level.trim());
            rest.strip_prefix(' ').filter(|_| known)?
        }
    };
    envelope.container = Some(name.to_owned());
    Some(Rest::Tail(rest))
}

/// ` [APP/PROC/WEB/0] OUT ` and ` [CELL/0] ERR ` of `cf logs`, behind the stamp.
pub(super) fn cell<'a>(stamp: Stamp, text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (source, rest) = super::kernel::bracketed(text.trim_start_matches(' '))?;
    let known = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b"/_-".contains(&b);
    let named = source.contains('/') && source.starts_with(|c: char| c.is_ascii_uppercase()) && source.bytes().all(known);
    let rest = rest.trim_start_matches(' ');
    let rest = ["OUT ", "ERR "].iter().find_map(|stream| rest.strip_prefix(stream)).filter(|_| named)?;
    envelope.saw(stamp);
    Some(Rest::Tail(rest))
}

#[cfg(test)]
mod tests {
    use crate::line::peel;

    #[test]
    fn routers_of_platforms_go() {
        for text in [
            "2024-05-03T10:00:00.000000+00:00 heroku[worker.1]: Killed",
            "2024-05-03T10:00:00.000000+00:00 app[worker.1]: Killed",
            "2024-05-03T10:00:00Z app[4d891] ord [info] Killed",
            "2024-05-03T10:00:00.00+0000 [APP/PROC/WEB/0] OUT Killed",
        ] {
            assert_eq!(peel(text, 1).text, "Killed", "{text}");
        }
        for text in ["app[worker.1]: Killed", "[APP/PROC/WEB/0] OUT Killed", "heroku[x y]: z"] {
            assert_eq!(peel(text, 1).text, text);
        }
    }
}
