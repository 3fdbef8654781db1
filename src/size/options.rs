//! The options of `coroner size`, and what they make of the sizing's inputs.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use coroner::remedy::Platform;
use coroner::remedy::sizing::{Given, Inputs, Sample, Sharing, Tensor, Together, tensors};
use coroner::units::Bytes;

/// The options.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  coroner size --workers 8 --prefetch 2 --batch-size 64 --sample 3x224x224:f32,1:i64
  docker run --shm-size=$(coroner size --workers 4 --batch-bytes 16m --bytes) IMAGE
  coroner size --from train.log --sample 3x224x224
  coroner size --loader 'workers=8 batch-bytes=38m' --loader 'workers=2 batch-bytes=38m' --together alternating
  coroner size --workers 8 --batch-bytes 38m --limit 64m")]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) common: Loader,

    /// One of several loaders, as 'workers=4 prefetch=2 batch-bytes=2m pin-memory'; what it does not say is taken from the
    /// options above
    #[arg(long, value_name = "SETTINGS", value_parser = one_loader, help_heading = "Several loaders")]
    pub(super) loader: Vec<Loader>,

    /// How several loaders are used: all at any time, one after the other, an evaluation inside of an epoch, or in step
    #[arg(long, value_name = "HOW", default_value = "at-once", value_parser = together(), help_heading = "Several loaders")]
    pub(super) together: Together,

    /// Take what the options do not say from logs, folders or exit data; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = "Surroundings")]
    pub(super) from: Vec<PathBuf>,

    /// Processes that share the /dev/shm, as the ranks of one container
    #[arg(long, value_name = "N", value_parser = one_or_more, allow_hyphen_values = true, help_heading = "Surroundings")]
    ranks: Option<u64>,

    /// Epochs; several unless told otherwise
    #[arg(long, value_name = "N", value_parser = one_or_more, allow_hyphen_values = true, help_heading = "Surroundings")]
    epochs: Option<u64>,

    /// How workers are started; Python 3.14 and later use forkserver unless told otherwise
    #[arg(long, value_name = "METHOD", default_value = "fork", value_parser = ["fork", "spawn", "forkserver"],
          help_heading = "Surroundings")]
    start_method: String,

    /// torch.multiprocessing's sharing strategy
    #[arg(long, value_name = "STRATEGY", default_value = "file_descriptor", value_parser = ["file_descriptor", "file_system"],
          help_heading = "Surroundings")]
    strategy: String,

    /// The kernel's page size; 64k on some arm64 machines
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = page, help_heading = "Surroundings")]
    page_size: u64,

    /// A size of /dev/shm: what fits into it?
    #[arg(long, value_name = "SIZE", value_parser = large, help_heading = "Surroundings")]
    limit: Option<Bytes>,

    /// The memory limit of the container, pod or job, which shared memory counts against
    #[arg(long, value_name = "SIZE", value_parser = large, help_heading = "Surroundings")]
    memory_limit: Option<Bytes>,

    /// What the processes use beside shared memory
    #[arg(long, value_name = "SIZE", value_parser = large, help_heading = "Surroundings")]
    process_memory: Option<Bytes>,

    /// How to write the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "human", value_parser = ["human", "json"],
          conflicts_with_all = ["bytes", "exact"], help_heading = "Output")]
    pub(super) format: String,

    /// Only the recommended size in bytes
    #[arg(long, conflicts_with = "exact", help_heading = "Output")]
    pub(super) bytes: bool,

    /// Only what the formula gives, to the byte
    #[arg(long, help_heading = "Output")]
    pub(super) exact: bool,

    /// Say what to type on this platform; may be given more than once
    #[arg(long, value_name = "PLATFORM", value_parser = platforms(), help_heading = "Output")]
    pub(super) platform: Vec<Platform>,
}

/// What describes one loader.
#[derive(Args, Clone, Debug)]
pub(super) struct Loader {
    /// num_workers
    #[arg(short, long, value_name = "N", value_parser = one_or_more, allow_hyphen_values = true, help_heading = "The loader")]
    pub(super) workers: Option<u64>,

    /// prefetch_factor; 2 unless told otherwise
    #[arg(short, long, value_name = "N", value_parser = one_or_more, allow_hyphen_values = true, help_heading = "The loader")]
    prefetch: Option<u64>,

    /// Samples in a batch
    #[arg(short, long, value_name = "N", value_parser = one_or_more, allow_hyphen_values = true, help_heading = "The loader")]
    batch_size: Option<u64>,

    /// The tensors of one sample, as 3x224x224:f32,1:i64; may be given more than once
    #[arg(short, long, value_name = "SHAPE", value_parser = shapes, allow_hyphen_values = true, help_heading = "The loader")]
    sample: Vec<Vec<Tensor>>,

    /// A batch is a list of samples, each with tensors of its own
    #[arg(long, help_heading = "The loader")]
    list: bool,

    /// Bytes of a batch instead of shapes: t.untyped_storage().nbytes(), once for each tensor of it
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "sample", help_heading = "The loader")]
    batch_bytes: Vec<Bytes>,

    /// pin_memory=True
    #[arg(long, help_heading = "The loader")]
    pin_memory: bool,

    /// persistent_workers=True
    #[arg(long, alias = "persistent-workers", help_heading = "The loader")]
    persistent: bool,

    /// Batches that the loop keeps when it asks for the next one; 1 unless told otherwise, 0 where the loop rebinds every tensor
    #[arg(long, value_name = "K", value_parser = number, allow_hyphen_values = true, help_heading = "The loader")]
    held: Option<u64>,

    /// The loop fetches one batch ahead, as Accelerate's loader does
    #[arg(long, help_heading = "The loader")]
    look_ahead: bool,

    /// Batches in an epoch; matters where they are fewer than workers × prefetch
    #[arg(long, value_name = "N", value_parser = one_or_more, allow_hyphen_values = true, help_heading = "The loader")]
    epoch_batches: Option<u64>,

    /// Workers send views of one storage of this size, which each of them then keeps as a whole
    #[arg(long, value_name = "SIZE", value_parser = large, help_heading = "The loader")]
    view_of: Option<Bytes>,

    /// Tensors inside of the data set object, which spawn and forkserver send through shared memory
    #[arg(long, value_name = "SIZE", value_parser = large, help_heading = "The loader")]
    dataset_bytes: Option<Bytes>,
}

/// A loader's settings by themselves.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, name = "--loader")]
struct Alone {
    #[command(flatten)]
    loader: Loader,
}

impl Options {
    /// The inputs of each loader. What an option says replaces what was read.
    pub(super) fn inputs(&self, told: &Inputs) -> Result<Vec<Inputs>, String> {
        let header = if self.strategy == "file_system" { 64 } else { 0 };
        let spawned = self.start_method != "fork";
        let around = Inputs {
            ranks: said(self.ranks, "--ranks").unwrap_or_else(|| told.ranks.clone()),
            epochs: said(self.epochs, "--epochs").unwrap_or_else(|| told.epochs.clone()),
            spawned,
            sharing: Sharing { header, page: self.page_size },
            limit: self.limit,
            memory_limit: self.memory_limit.or(told.memory_limit),
            processes: self.process_memory.or(told.processes),
            ..told.clone()
        };
        let common = self.common.over(&around)?;
        if common.lasting_bytes.is_empty() || spawned {
            if self.loader.is_empty() {
                return Ok(vec![common]);
            }
            return self.loader.iter().map(|loader| loader.over(&common)).collect();
        }
        Err("--dataset-bytes counts with --start-method spawn or forkserver only: forked workers share the data set's memory"
            .to_owned())
    }
}

impl Loader {
    /// These settings where they are given, and others where not.
    fn over(&self, others: &Inputs) -> Result<Inputs, String> {
        let mut inputs = others.clone();
        let yes = |flag: bool| if flag { Some(1) } else { None };
        for (name, value, list) in [
            ("--workers", self.workers, &mut inputs.workers),
            ("--prefetch", self.prefetch, &mut inputs.prefetch),
            ("--batch-size", self.batch_size, &mut inputs.batch_size),
            ("--held", self.held, &mut inputs.held),
            ("--epoch-batches", self.epoch_batches, &mut inputs.epoch_batches),
            ("--pin-memory", yes(self.pin_memory), &mut inputs.pin_memory),
            ("--persistent", yes(self.persistent), &mut inputs.persistent_workers),
            ("--dataset-bytes", self.dataset_bytes.map(|Bytes(bytes)| bytes), &mut inputs.lasting_bytes),
        ] {
            if let Some(given) = said(value, name) {
                *list = given;
            }
        }
        inputs.look_ahead |= self.look_ahead;
        if let Some(Bytes(bytes)) = self.view_of {
            inputs.view_of = Some(Given::new(bytes, "--view-of"));
        }
        if !self.batch_bytes.is_empty() {
            let storages =
                self.batch_bytes.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(inputs.sharing.storage(bytes.0)?));
            let bytes = storages.ok_or("--batch-bytes is too large: no machine has so much memory")?;
            let words = if self.batch_bytes.len() > 1 {
                "--batch-bytes, each tensor in whole pages"
            } else {
                "--batch-bytes, in whole pages"
            };
            inputs.batch_bytes = vec![Given::new(bytes, words)];
            inputs.sample = None;
        }
        if !self.sample.is_empty() {
            let tensors = self.sample.iter().flatten().cloned().collect();
            inputs.sample = Some(Sample { tensors, list: self.list, from: "--sample".to_owned() });
            inputs.batch_bytes = Vec::new();
        }
        if let Some(sample) = &mut inputs.sample {
            sample.list |= self.list;
        }
        Ok(inputs)
    }
}

/// A number that an option gives.
fn said(value: Option<u64>, name: &str) -> Option<Vec<Given>> {
    value.map(|value| vec![Given::new(value, name)])
}

fn one_loader(text: &str) -> Result<Loader, String> {
    let words = text.split([' ', ';', '\t', '\n']).filter(|word| !word.is_empty());
    let arguments: Vec<String> = words.map(|word| format!("--{}", word.trim_start_matches('-').replace('_', "-"))).collect();
    let wrong = |error: clap::Error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        format!("{first}; a right one is 'workers=4 prefetch=2 batch-size=64 sample=3x224x224:f32 pin-memory'")
    };
    if arguments.is_empty() {
        return Err("it is empty; a right one is 'workers=4 prefetch=2 batch-size=64 sample=3x224x224:f32'".to_owned());
    }
    Alone::try_parse_from(arguments).map(|alone| alone.loader).map_err(wrong)
}

fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| match text.trim().strip_prefix('-') {
        Some(_) => "it cannot be negative; a right one is 2".to_owned(),
        None if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => "it is too large; a right one is 2".to_owned(),
        None => "it is not a whole number; a right one is 2".to_owned(),
    })
}

fn one_or_more(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err("it must be 1 or more (a loader with num_workers=0 uses no shared memory); a right one is 2".to_owned()),
        value => Ok(value),
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    match text.parse()? {
        Bytes(0) => Err("nothing takes no memory; a right one is 16m".to_owned()),
        bytes => Ok(bytes),
    }
}

/// A size that is never a handful of bytes: a number without a unit was meant to have one.
fn large(text: &str) -> Result<Bytes, String> {
    match size(text)? {
        Bytes(bytes @ ..4096) => Err(format!("that is {bytes} bytes, less than a page; with a unit it is {bytes}m or {bytes}g")),
        bytes => Ok(bytes),
    }
}

fn page(text: &str) -> Result<u64, String> {
    match text.parse()? {
        Bytes(page @ 4096..=1_073_741_824) if page.is_power_of_two() => Ok(page),
        _ => Err("a page is a power of two from 4096 on; a right one is 4096 or 64k (`getconf PAGESIZE`)".to_owned()),
    }
}

fn shapes(text: &str) -> Result<Vec<Tensor>, String> {
    tensors(text)
}

fn together() -> impl TypedValueParser<Value = Together> {
    PossibleValuesParser::new(Together::ALL.iter().map(|together| together.slug()))
        .try_map(|name| Together::ALL.iter().copied().find(|together| together.slug() == name).ok_or("no such way"))
}

/// The platforms that have commands of their own.
pub(crate) fn platforms() -> impl TypedValueParser<Value = Platform> {
    PossibleValuesParser::new(Platform::ALL.iter().map(|platform| platform.slug()))
        .try_map(|name| Platform::ALL.iter().copied().find(|p| p.slug() == name).ok_or("no such platform"))
}
