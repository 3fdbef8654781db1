//! Formats of archives, told by their first bytes; a name may lie.

use std::io::{self, Read};

/// A format that can be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Magic {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Zip,
    Tar,
}

/// How much of the beginning is looked at: a tar header.
const HEAD: usize = 512;

/// The first bytes, and the error that ended them early.
pub(super) fn peek(reader: &mut dyn Read) -> (Vec<u8>, Option<io::Error>) {
    let mut head = Vec::with_capacity(HEAD);
    let mut buffer = [0; HEAD];
    while head.len() < HEAD {
        match reader.read(buffer.get_mut(head.len()..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(n) => {
                let from = head.len();
                head.extend_from_slice(buffer.get(from..from + n).unwrap_or_default());
                // A log that is written slowly is no archive; two bytes tell whether to wait for more.
                if head.len() >= 2 && !begins(&head) {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (head, Some(error)),
        }
    }
    (head, None)
}

/// Whether these bytes may begin an archive; a tar begins with a name, which may be anything.
fn begins(head: &[u8]) -> bool {
    let known: [&[u8]; 5] = [b"\x1f\x8b", b"\x28\xb5", b"\xfd7", b"BZ", b"PK"];
    known.iter().any(|magic| head.starts_with(magic)) || head.contains(&0)
}

/// The format that begins so.
pub(super) fn tell(head: &[u8]) -> Option<Magic> {
    match head {
        [0x1f, 0x8b, 8, ..] => Some(Magic::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Magic::Zstd),
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Magic::Zstd),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Magic::Xz),
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..] => Some(Magic::Bzip2),
        [b'P', b'K', 3, 4, ..] if !other_zip(head) => Some(Magic::Zip),
        _ if head.get(257..262) == Some(b"ustar") => Some(Magic::Tar),
        _ => None,
    }
}

/// Checkpoints, arrays, packages and office documents are zip files too; there are no logs in them.
fn other_zip(head: &[u8]) -> bool {
    let size = usize::from(head.get(26).copied().unwrap_or(0)) | usize::from(head.get(27).copied().unwrap_or(0)) << 8;
    let name = head.get(30..30_usize.saturating_add(size)).unwrap_or_default();
    let ends = [&b"/data.pkl"[..], b"/.format_version", b".npy", b"[Content_Types].xml"];
    ends.iter().any(|end| name.ends_with(end)) || name.starts_with(b"META-INF/") || name == b"mimetype"
}

#[cfg(test)]
mod tests {
    use super::{Magic, peek, tell};

    #[test]
    fn first_bytes_tell() {
        assert_eq!(tell(b"\x1f\x8b\x08\0"), Some(Magic::Gzip));
        assert_eq!(tell(b"BZh91AY&SY"), Some(Magic::Bzip2));
        assert_eq!(tell(b"BZh ought to be fixed"), None);
        assert_eq!(tell(b"PK\x03\x04"), Some(Magic::Zip));
        let mut checkpoint = b"PK\x03\x04".to_vec();
        checkpoint.resize(30, 0);
        checkpoint[26] = 16;
        checkpoint.extend(b"archive/data.pkl");
        assert_eq!(tell(&checkpoint), None);
        let mut tar = vec![b'a'; 257];
        tar.extend(b"ustar\x0000");
        assert_eq!(tell(&tar), Some(Magic::Tar));
        assert_eq!(tell(b""), None);
    }

    #[test]
    fn a_text_is_not_waited_for() {
        let mut text = &b"epoch 1"[..];
        assert_eq!(peek(&mut text).0, b"epoch 1");
    }
}
