//! Inputs: what the user named, as readers with names. Standard input, files, and every regular file below a folder.

pub(crate) mod actions;
pub mod archive;
pub(crate) mod leaf;
mod magic;
mod packed;
pub(crate) mod rotation;
mod tar;
pub mod walk;
mod xz;
pub(crate) mod zip;
mod zstd;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use walkdir::WalkDir;

use crate::note::Note;
use archive::Found;

/// What can be read once more.
pub trait Again {
    /// Reads it from its beginning, or all files in it where it is an archive. A pipe is left alone: to open it once more waits
    /// for a writer that may never come.
    fn again(&self, sink: &mut archive::Sink<'_>);
}

impl Again for Source<'_> {
    fn again(&self, sink: &mut archive::Sink<'_>) {
        if self.path().is_none_or(Path::is_file) {
            self.each(sink);
        }
    }
}

/// Something to read: a name and a way to get at the bytes. Nothing is opened before it is read, so that a folder of ten
/// thousand files does not take ten thousand descriptors.
pub struct Source<'a> {
    /// The name as the user gave it, `-` for standard input.
    pub name: Arc<str>,
    from: From<'a>,
}

/// Where the bytes are.
enum From<'a> {
    Path(PathBuf),
    /// A stream gives its bytes once.
    Stream(Mutex<Option<Box<dyn Read + Send + 'a>>>),
}

impl<'a> Source<'a> {
    /// A file, opened when it is read.
    pub fn file(name: Arc<str>, path: PathBuf) -> Self {
        Self { name, from: From::Path(path) }
    }

    /// A stream that is read once.
    pub fn stream(name: Arc<str>, reader: impl Read + Send + 'a) -> Self {
        Self { name, from: From::Stream(Mutex::new(Some(Box::new(reader)))) }
    }

    /// Opens the source for reading from its beginning; a stream can be opened only once.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        match &self.from {
            From::Path(path) => {
                let file = File::open(path)?;
                if is_device(&file) { Ok(Box::new(Endless(file.take(DEVICE)))) } else { Ok(Box::new(file)) }
            }
            From::Stream(stream) => {
                let reader = stream.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                Ok(reader.ok_or_else(|| io::Error::other("read before"))?)
            }
        }
    }

    /// Reads the source, or all files in it where it is an archive.
    pub fn each(&self, sink: &mut archive::Sink<'_>) {
        match self.open() {
            Ok(reader) => archive::unpack(&self.name, reader, again(self.path()), sink),
            Err(error) => sink(Found::Note(Note::unread(&self.name, format!("cannot be read: {}", reason(&error))))),
        }
    }

    /// The path of a file, for those who read it in another way than from front to back.
    pub fn path(&self) -> Option<&Path> {
        match &self.from {
            From::Path(path) => Some(path),
            From::Stream(_) => None,
        }
    }
}

/// How much of a device is read, in bytes: `/dev/kmsg` ends by then, and others never do.
const DEVICE: u64 = 256 << 20;

/// Whether a file is a device of characters.
#[cfg(unix)]
fn is_device(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    file.metadata().is_ok_and(|found| found.file_type().is_char_device())
}

/// Whether a file is a device of characters.
#[cfg(not(unix))]
fn is_device(_: &File) -> bool {
    false
}

/// A reader that may not end, and fails where it is left.
struct Endless<R>(io::Take<R>);

impl<R: Read> Read for Endless<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if self.0.limit() == 0 && !buffer.is_empty() => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("a device without end: only its first {} MiB were read", DEVICE >> 20),
            )),
            n => Ok(n),
        }
    }
}

/// Opens a regular file once more; anything else gives its bytes only once.
fn again(path: Option<&Path>) -> Option<File> {
    path.filter(|path| path.is_file()).and_then(|path| File::open(path).ok())
}

/// Turns what the user named into sources, in that order, and tells what cannot be read. One bad path never hides another.
pub fn open<'a>(paths: &[PathBuf], stdin: impl Read + Send + 'a) -> (Vec<Source<'a>>, Vec<Note>) {
    let mut sources = Vec::new();
    let mut notes = Vec::new();
    let mut stdin = Some(stdin);
    // A pipe, and what Git keeps, are read only where they are named themselves.
    let reaches = |root: &Path, own: &Path| {
        let below = own.strip_prefix(root).unwrap_or(own);
        (own.is_file() || own.is_dir()) && !below.iter().any(|part| part == ".git")
    };
    for path in once(paths, &reaches, &mut notes) {
        let name = shown(path);
        if path.as_os_str() == "-" {
            match stdin.take() {
                Some(reader) => sources.push(Source::stream(name, reader)),
                None => notes.push(Note::remark(&name, "standard input was named before")),
            }
            continue;
        }
        match path.metadata() {
            Err(error) => notes.push(Note::unread(&name, reason(&error))),
            Ok(found) if found.is_dir() => folder(path, &mut sources, &mut notes),
            Ok(found) => match probe(path, &found) {
                Ok(()) => sources.push(Source::file(name, path.clone())),
                Err(error) => notes.push(Note::unread(&name, reason(&error))),
            },
        }
    }
    (sources, notes)
}

/// The paths without those that are named twice, or that a walk over another one reaches: nothing is read, and no death
/// counted, twice.
pub(crate) fn once<'p>(paths: &'p [PathBuf], reaches: &dyn Fn(&Path, &Path) -> bool, notes: &mut Vec<Note>) -> Vec<&'p PathBuf> {
    let real: Vec<Option<PathBuf>> = paths.iter().map(|path| path.canonicalize().ok()).collect();
    let covered = |at: usize, own: &Path| {
        real.iter().enumerate().any(|(other, path)| match path {
            Some(path) if path.as_path() == own => other < at,
            Some(path) => own.starts_with(path) && path.is_dir() && reaches(path, own),
            None => false,
        })
    };
    let mut kept = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        match real.get(at).and_then(Option::as_ref) {
            Some(own) if own.exists() && covered(at, own) => notes.push(Note::remark(&shown(path), "named twice: read once")),
            _ => kept.push(path),
        }
    }
    kept
}

/// Whether a file can be opened, asked at once so that all bad paths are told together. Opening a pipe has effects on its
/// writer, and a device may wait, so only regular files are tried.
fn probe(path: &Path, found: &Metadata) -> io::Result<()> {
    if found.is_file() { File::open(path).map(drop) } else { Ok(()) }
}

/// Every regular file below a folder, sorted by name. Pipes, sockets and devices are left alone there: reading them could
/// wait for ever. Links are followed to files but not to folders, so that no loop is walked.
fn folder(root: &Path, sources: &mut Vec<Source<'_>>, notes: &mut Vec<Note>) {
    let before = (sources.len(), notes.len());
    let walk = WalkDir::new(root).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| !(entry.file_type().is_dir() && entry.file_name() == ".git")) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let name = error.path().map_or_else(|| shown(root), shown);
                let text = error.io_error().map_or_else(|| error.to_string(), reason);
                notes.push(Note::unread(&name, text));
                continue;
            }
        };
        let path = entry.path();
        let kind = entry.file_type();
        let found = match entry.metadata() {
            Ok(found) if kind.is_file() => found,
            _ if kind.is_symlink() => match path.metadata() {
                Ok(found) if found.is_file() => found,
                Ok(found) if found.is_dir() => continue,
                found => {
                    let text = if found.is_ok() { walk::NO_FILE } else { "a link to nothing: passed over" };
                    notes.push(Note::remark(&shown(path), text));
                    continue;
                }
            },
            Err(error) if kind.is_file() => {
                notes.push(Note::unread(&shown(path), error.io_error().map_or_else(|| error.to_string(), reason)));
                continue;
            }
            _ if kind.is_dir() => continue,
            _ => {
                notes.push(Note::remark(&shown(path), walk::NO_FILE));
                continue;
            }
        };
        match probe(path, &found) {
            Ok(()) => sources.push(Source::file(shown(path), path.to_owned())),
            Err(error) => notes.push(Note::unread(&shown(path), reason(&error))),
        }
    }
    if (sources.len(), notes.len()) == before {
        notes.push(Note::unread(&shown(root), "a folder without files"));
    }
}

/// A path as a name; what is not UTF-8 in it is replaced.
fn shown(path: &Path) -> Arc<str> {
    path.to_string_lossy().into()
}

/// The note on an input of which an error cut off the end.
pub fn torn(name: &Arc<str>, error: &io::Error) -> Note {
    Note::unread(name, format!("cannot be read to its end: {}", reason(error)))
}

/// The operating system's reason in the words of notes, as `no such file or directory`.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        // An abbreviation such as `I/O error` stays.
        Some(first) if chars.clone().next().is_some_and(char::is_lowercase) => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, open, reason};
    use std::io::Read;
    use std::path::PathBuf;

    fn text(source: &Source<'_>) -> String {
        let mut text = String::new();
        source.open().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn folders_files_and_standard_input_become_sources() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, content) in [("b.log", "b"), ("a/z.log", "z"), ("a/.hidden", "h"), (".git/config", "no"), ("c.log", "c")] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root, root.join("a/loop")).unwrap();
            std::os::unix::fs::symlink(root.join("b.log"), root.join("link.log")).unwrap();
            std::os::unix::fs::symlink(root.join("gone"), root.join("dangling")).unwrap();
        }
        let paths = [PathBuf::from("-"), root.to_owned(), root.join("c.log"), PathBuf::from("-"), root.join("missing")];
        let (sources, notes) = open(&paths, "in".as_bytes());
        let names: Vec<_> = sources.iter().map(|s| s.name.replace(&*root.to_string_lossy(), "")).collect();
        assert_eq!(names, ["-", "/a/.hidden", "/a/z.log", "/b.log", "/c.log", "/link.log"]);
        assert_eq!(sources.iter().map(text).collect::<String>(), "inhzbcb");
        let texts: Vec<_> = notes.iter().map(|n| n.text.as_str()).collect();
        let expected = [
            "named twice: read once",
            "a link to nothing: passed over",
            "standard input was named before",
            "no such file or directory",
        ];
        assert_eq!(texts, expected);
        assert!(sources[0].open().is_err());
    }

    #[test]
    fn an_empty_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (sources, notes) = open(&[folder.path().to_owned()], std::io::empty());
        assert!(sources.is_empty());
        assert_eq!(notes[0].text, "a folder without files");
    }

    #[test]
    fn reasons_are_in_lower_case() {
        assert_eq!(reason(&std::io::Error::from_raw_os_error(13)), "permission denied");
    }
}
