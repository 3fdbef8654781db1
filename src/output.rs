//! Where reports go: standard output, standard error, or files that are complete or not there at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use coroner::input::reason;
use coroner::read::own;
use coroner::report::Format;

/// What standard output is called in messages.
pub(crate) const STDOUT: &str = "standard output";

/// A format with the file that it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The format.
    pub(crate) format: Format,
    /// The file; standard output without one.
    pub(crate) file: Option<PathBuf>,
}

/// Reads `sarif` or `sarif=out.sarif`; `-` is standard output.
pub(crate) fn target(text: &str) -> Result<Target, String> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let names = || Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
    let format = Format::from_name(name).ok_or_else(|| format!("the formats are {}", names()))?;
    match file {
        Some("") => Err(format!("a file is missing after `{name}=`")),
        Some("-") => Ok(Target { format, file: None }),
        file => Ok(Target { format, file: file.map(PathBuf::from) }),
    }
}

/// Brings together `--format` and `--output`: at most one format goes to standard output.
pub(crate) fn targets(formats: &[Target], output: Option<&Path>) -> Result<Vec<Target>, String> {
    let output = output.filter(|output| output.as_os_str() != "-");
    let mut all = formats.to_vec();
    if all.is_empty() {
        all.push(Target { format: Format::Human, file: None });
    }
    let mut bare = all.iter_mut().filter(|target| target.file.is_none());
    let first = bare.next();
    if bare.next().is_some() {
        return Err("several formats need a file each, as `--format sarif=out.sarif`; only one may go without".to_owned());
    }
    match (first, output) {
        (Some(first), Some(output)) => first.file = Some(output.to_owned()),
        (None, Some(_)) => return Err("--output has no format to write: every --format names its own file".to_owned()),
        (_, None) => {}
    }
    for (index, target) in all.iter().enumerate() {
        let Some(file) = &target.file else { continue };
        if all.iter().take(index).filter_map(|other| other.file.as_ref()).any(|other| plain(other) == plain(file)) {
            return Err("two formats cannot go to the same file".to_owned());
        }
    }
    Ok(all)
}

/// A path without the ways to say it differently, also of a file that is not there yet.
fn plain(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(named).unwrap_or_else(|| path.to_owned())
}

/// Refuses a report that would replace one of the inputs, or a file below one: a log of a dead job cannot be had again. An
/// earlier report may be replaced, so that the same command can be given every night.
pub(crate) fn spare(targets: &[Target], inputs: &[PathBuf]) -> Result<(), String> {
    let inputs: Vec<PathBuf> = inputs.iter().filter_map(|input| input.canonicalize().ok()).collect();
    for file in targets.iter().filter_map(|target| target.file.as_ref()) {
        let Some(path) = file.canonicalize().ok().filter(|path| path.is_file()) else { continue };
        let shown = file.display().to_string();
        let shown = shown.escape_debug();
        if inputs.contains(&path) {
            return Err(format!("{shown} is an input; the report needs another file"));
        }
        if inputs.iter().any(|input| path.starts_with(input)) && !is_replaceable(&path) {
            return Err(format!("{shown} is below an input and no earlier report; the report needs another file"));
        }
    }
    Ok(())
}

/// Whether nothing is lost with a file: it is empty, or a report.
fn is_replaceable(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(own::HEAD as u64).read_to_end(&mut head));
    read.is_ok() && (head.is_empty() || own::is_report(&head))
}

/// An open place to write to.
pub(crate) enum Output {
    /// A stream; what was written is out.
    Stream(Stream),
    /// A file under a temporary name.
    File(Pending),
}

/// A stream under the name of its errors.
pub(crate) struct Stream {
    writer: BufWriter<Box<dyn Write>>,
    name: PathBuf,
    left: bool,
}

/// A file that gets its name when it is complete.
pub(crate) struct Pending {
    writer: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
    kept: bool,
}

impl Output {
    /// A stream that is open already.
    pub(crate) fn stream(name: impl Into<PathBuf>, stream: impl Write + 'static) -> Self {
        Self::Stream(Stream { writer: BufWriter::new(Box::new(stream)), name: name.into(), left: false })
    }

    /// Whether the reader of a pipe left: nothing more arrives there, which is no failure.
    pub(crate) fn is_left(&self) -> bool {
        matches!(self, Self::Stream(Stream { left: true, .. }))
    }

    /// A file. What is no regular file, as `/dev/null` or a pipe, is written to directly.
    pub(crate) fn file(path: &Path) -> io::Result<Self> {
        let found = path.metadata().ok();
        if found.as_ref().is_some_and(|found| !found.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(|error| at(path, &error))?;
            return Ok(Self::stream(path, file));
        }
        // A link stays a link: the file behind it is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&temporary).map_err(|error| at(&path, &error))?;
        if let Some(found) = found {
            // Where the old file's rights cannot be given to the new one, it keeps those of any new file.
            let _ = file.set_permissions(found.permissions());
        }
        Ok(Self::File(Pending { writer: BufWriter::new(file), temporary, path, kept: false }))
    }

    /// Ends the writing: a file appears under its name.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        match self {
            Self::Stream(_) => self.flush(),
            Self::File(ref mut file) => {
                let done = file.writer.flush().and_then(|()| fs::rename(&file.temporary, &file.path));
                file.kept = done.is_ok();
                done.map_err(|error| at(&file.path, &error))
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.pass(|writer| writer.write_all(bytes)).map(|()| bytes.len()),
            Self::File(file) => file.writer.write(bytes).map_err(|error| at(&file.path, &error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.pass(Write::flush),
            Self::File(file) => file.writer.flush().map_err(|error| at(&file.path, &error)),
        }
    }
}

impl Stream {
    /// Writes, as long as there is somebody to read.
    fn pass(&mut self, write: impl FnOnce(&mut BufWriter<Box<dyn Write>>) -> io::Result<()>) -> io::Result<()> {
        if self.left {
            return Ok(());
        }
        match write(&mut self.writer) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.left = true,
            done => return done.map_err(|error| at(&self.name, &error)),
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.kept {
            // A file that is gone already needs no removal.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// An error with the path, or the name of the stream, that it is about.
pub(crate) fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {}", path.display().to_string().escape_debug(), reason(error)))
}
