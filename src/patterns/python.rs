//! The bones of tracebacks: headings, frames, chains and the exception's line, as CPython, rich, IPython and torch print them.

use super::{Caps, Pattern};
use crate::fact::{Claim, Opening, Role, What, Who, Witness};

/// The bones.
pub(super) const TABLE: &[Pattern] = &[
    // PyTorch's signal handler writes into the line without regard to what follows, so a traceback may stand behind it. IPython
    // puts the type before the words.
    Pattern {
        id: "python/traceback",
        witness: Witness::Program,
        stems: &["Traceback (most recent call last)"],
        regex: concat!(
            r"^(?:\s*[|+] [-+| ]*|\s{0,2}|.*encountered in worker\..*|[\w.]+ {2,}|╭─+ ?)",
            r"(?<quoted>Original )?(?:Exception Group )?Traceback \(most recent call last\)(?::\s*| ─+[╮─]|\s*)$"
        ),
        read: |caps| {
            vec![Claim::bare(What::Traceback(if caps.get("quoted").is_some() { Opening::Original } else { Opening::Plain }))]
        },
        samples: &[
            "Traceback (most recent call last):",
            "Original Traceback (most recent call last):",
            "╭──────────────────── Traceback (most recent call last) ─────────────────────╮",
            "RuntimeError                              Traceback (most recent call last)",
            "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm). Traceback (most recent call last):",
            "  + Exception Group Traceback (most recent call last):",
        ],
        near_misses: &[
            "grep \"Traceback (most recent call last)\" train.log",
            "see the Traceback (most recent call last) below",
            "        Traceback (most recent call last):",
        ],
    },
    Pattern {
        id: "python/thread",
        witness: Witness::Program,
        stems: &["Exception in thread "],
        regex: r#"^Exception in thread (?<name>[^"'].*?)\s*:(?: Traceback \(most recent call last\):)?\s*$"#,
        read: heading,
        samples: &["Exception in thread Thread-1 (_pin_memory_loop):", "Exception in thread QueueFeederThread:"],
        near_misses: &["Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space"],
    },
    // multiprocessing/process.py prints the process's name before the traceback.
    Pattern {
        id: "python/process",
        witness: Witness::Program,
        stems: &["Process "],
        regex: r"^Process (?<name>[A-Za-z][\w-]*-\d+(?::\d+)*):\s*$",
        read: heading,
        samples: &["Process SpawnProcess-3:", "Process ForkPoolWorker-12:", "Process Process-2:1:"],
        near_misses: &["Process 3 finished:", "Process Images:", "Process finished with exit code 0"],
    },
    // torch/multiprocessing/spawn.py, before the traceback of the process that raised.
    Pattern {
        id: "python/spawned",
        witness: Witness::Program,
        stems: &["-- Process "],
        regex: r"^(?:[\w.]*Exception: )?-- Process (?<rank>\d+) terminated with the following error:\s*$",
        read: |caps| {
            let who = Who { rank: caps.num("rank"), ..Who::role(Role::Rank) };
            vec![Claim::new(What::Traceback(Opening::Heading), who)]
        },
        samples: &["-- Process 1 terminated with the following error:"],
        near_misses: &["    msg = \"\\n\\n-- Process %d terminated with the following error:\\n\" % error_index"],
    },
    // `Exception ignored while calling …` since Python 3.14.
    Pattern {
        id: "python/ignored",
        witness: Witness::Program,
        stems: &["Exception ignored "],
        regex: r"^\s?Exception ignored (?:in:? [<'].*|on calling .*|while .*)$",
        read: |_| vec![Claim::bare(What::Traceback(Opening::Ignored))],
        samples: &[
            "Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f2b5c0a1b80>",
            "Exception ignored in: <bound method _DataLoaderIter.__del__ of <torch.utils.data.dataloader._DataLoaderIter object at 0x7f>>",
            "Exception ignored while calling deallocator <function X at 0x7f2b5c0a1b80>:",
        ],
        near_misses: &["Exception ignored by the handler"],
    },
    // CPython's frames, loguru's `>` before the caller, and faulthandler's, which have no comma before `in`.
    Pattern {
        id: "python/frame",
        witness: Witness::Program,
        stems: &["File \"", "\", line "],
        regex: r#"^(?:\s*\|)?[\s>]*File "(?<file>[^"]+)", line (?<line>\d+)(?:,? in (?<function>.*?))?\s*$"#,
        read: frame,
        samples: &[
            "  File \"/opt/python/lib/python3.11/multiprocessing/queues.py\", line 244, in _feed",
            "  File \"<frozen runpy>\", line 198, in _run_module_as_main",
            "  File \"/home/u/xd/test_die.py\", line 3 in test_bus",
            "  File \"train.py\", line 12",
        ],
        near_misses: &["Error in File \"train.py\", line 12, in main", "  File \"train.py\" was read"],
    },
    // rich: the frame's function stands on the next line where the box is too narrow, and IPython 8 writes `File x.py:12, in f(…)`.
    Pattern {
        id: "python/short-frame",
        witness: Witness::Program,
        stems: &[
            "│ ", "│ /a", "│ /b", "│ /c", "│ /d", "│ /e", "│ /f", "│ /g", "│ /h", "│ /i", "│ /j", "│ /k", "│ /l", "│ /m", "│ /n",
            "│ /o", "│ /p", "│ /q", "│ /r", "│ /s", "│ /t", "│ /u", "│ /v", "│ /w", "│ /x", "│ /y", "│ /z", "File /", "File ~",
        ],
        regex: r"^(?:│ (?<file>/\S+|\S+\.py):(?<line>\d+)(?: in(?: (?<function>[^│]*?))?)?\s*│|File (?<ifile>\S+\.py):(?<iline>\d+), in (?<ifunction>[\w.<>]+).*)$",
        read: |caps| {
            let pick = |a, b| caps.get(a).or_else(|| caps.get(b));
            let (Some(file), Some(line)) = (pick("file", "ifile"), pick("line", "iline").and_then(|n| n.parse().ok())) else {
                return Vec::new();
            };
            let function = pick("function", "ifunction").filter(|name| !name.is_empty()).map(str::to_owned);
            vec![Claim::bare(What::Frame { file: file.to_owned(), line, function })]
        },
        samples: &[
            "│ /home/u/kraken/lib/python3.8/site-packages/torch/utils/data/dataloader.py:1011 in _try_get_data   │",
            "│ /home/u/kraken/lib/python3.8/site-packages/torch/utils/data/dataloader.py:1011 in                 │",
            "│ /home/user/kraken-env/bin/ketos:8 in <module>                                                  │",
            "File /opt/conda/lib/python3.10/site-packages/torch/utils/data/dataloader.py:1132, in _MultiProcessingDataLoaderIter._try_get_data(self, timeout)",
        ],
        near_misses: &[
            "/opt/venv/lib/python3.11/site-packages/torch/utils/data/dataloader.py:554: UserWarning: This DataLoader will create",
            "INFO:train.py:12 in main",
        ],
    },
    // IPython 7 and older print the line's number apart, behind `-->`.
    Pattern {
        id: "python/ipython-frame",
        witness: Witness::Program,
        stems: &[".py in ", "<ipython-input-"],
        regex: r"^(?<file>(?:~?/|[A-Z]:\\)\S+\.py|<ipython-input-[\w-]+>) in (?<function>[\w<>.]+)(?:\(.*\))?\s*$",
        read: |caps| {
            let (Some(file), function) = (caps.text("file"), caps.text("function")) else { return Vec::new() };
            vec![Claim::bare(What::Frame { file, line: 0, function })]
        },
        samples: &[
            "/usr/local/lib/python3.6/dist-packages/torch/multiprocessing/spawn.py in join(self, timeout)",
            "<ipython-input-22-5f0a2d1c3b4e> in <module>()",
        ],
        near_misses: &["/usr/lib/x.py in use by 12", "wrote /tmp/x.py in 3 s"],
    },
    // A native backtrace with source lines, as UCX prints it; NCCL's shared-memory code shows itself only there.
    Pattern {
        id: "python/native-frame",
        witness: Witness::Program,
        stems: &[" 0x0000", " 0x00007f"],
        regex: r"^(?:\[[\w.-]+:\d+\] )?\s*\d+\s+0x[0-9a-f]+ (?<function>[\w:~<>]+)\([^)]*\)\s+(?<file>[^\s:]+):(?<line>\d+)\s*$",
        read: frame,
        samples: &[" 2 0x000000000006f425 ncclShmOpen()  /dvs/p4/build/sw/gpgpu/nccl/gitfusion/stable/src/misc/shmutils.cc:52"],
        near_misses: &[" 0 0x0000000000043090 killpg()  ???:0 was seen"],
    },
    Pattern {
        id: "python/chained",
        witness: Witness::Program,
        stems: &["ing exception:", " another exception occurred:"],
        regex: r"^\s{0,2}(?:\|\s*)?(?:The above exception was the direct cause of the following exception|During handling of the above exception, another exception occurred):\s*$",
        read: |_| vec![Claim::bare(What::Chained)],
        samples: &[
            "The above exception was the direct cause of the following exception:",
            "During handling of the above exception, another exception occurred:",
        ],
        near_misses: &["It said: The above exception was the direct cause of the following exception:"],
    },
    // The last line of a traceback. A name without module must look like an exception's; with a module, the module may say so.
    Pattern {
        id: "python/raised",
        witness: Witness::Program,
        stems: &[
            ".Error",
            "0Error",
            "1Error",
            "2Error",
            "3Error",
            "4Error",
            "5Error",
            "6Error",
            "7Error",
            "8Error",
            "9Error",
            "AError",
            "BError",
            "CError",
            "DError",
            "EError",
            "FError",
            "GError",
            "HError",
            "IError",
            "JError",
            "KError",
            "LError",
            "MError",
            "NError",
            "OError",
            "PError",
            "QError",
            "RError",
            "SError",
            "TError",
            "UError",
            "VError",
            "WError",
            "XError",
            "YError",
            "ZError",
            "_Error",
            "aError",
            "bError",
            "cError",
            "dError",
            "eError",
            "fError",
            "gError",
            "hError",
            "iError",
            "jError",
            "kError",
            "lError",
            "mError",
            "nError",
            "oError",
            "pError",
            "qError",
            "rError",
            "sError",
            "tError",
            "uError",
            "vError",
            "wError",
            "xError",
            "yError",
            "zError",
            "Exception",
            "Interrupt",
            "emExit",
            "orExit",
            "Exit",
            "Failure",
            ".exceptions.",
            ".errors.",
            ".error",
            "queue.Empty",
            "queue.Full",
            "TimeoutExpired",
            "StopIteration",
            "StopAsyncIteration",
        ],
        regex: concat!(
            r"^(?:E {2,}| {0,2}|\s+\| )(?<kind>(?:[A-Za-z_]\w*\.)+(?:_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure)|Error|error)",
            r"|_?[A-Z]\w*[a-z0-9](?:Error|Exception|Interrupt|Exit|Failure)|Exception|[A-Z]{2,4}Error|_?[A-Z]{1,3}[A-Z][a-z]\w*Error",
            r"|(?:[A-Za-z_]\w*\.)*(?:exceptions|errors|error)\.[A-Z]\w*|queue\.(?:Empty|Full)|(?:subprocess\.)?TimeoutExpired|Stop(?:Async)?Iteration)",
            r"(?:: ?(?<message>.*))?\s*$"
        ),
        read: raised,
        samples: &[
            "RuntimeError: unable to write to file </torch_16158_3570952464_1>: No space left on device (28)",
            "ValueError: Caught ValueError in DataLoader worker process 1.",
            "RuntimeError: Caught RuntimeError in pin memory thread for device 0.",
            "torch.multiprocessing.spawn.ProcessExitedException: process 5 terminated with signal SIGABRT",
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task.",
            "ray.exceptions.ActorUnavailable: gone",
            "subprocess.CalledProcessError: Command '['sh', '-c', 'exit 137']' returned non-zero exit status 137.",
            "KeyboardInterrupt",
            "SystemExit: 1",
            "MemoryError",
            "OSError: [Errno 28] No space left on device",
            "cv2.error: OpenCV(4.5.1) error: (-215:Assertion failed)",
            "Exception: process 0 terminated with signal SIGKILL",
            "E       RuntimeError: boom",
            "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 1.00 TiB for an array with shape (137438953472,) and data type float64",
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12 bytes.",
            "queue.Empty",
        ],
        near_misses: &[
            "loss: 2.3",
            "Epoch: 3",
            "INFO: x",
            "ERROR: Unexpected bus error encountered in worker.",
            "Error: Process completed with exit code 137.",
            "    except ValueError: pass",
            "    raise RuntimeError('x')",
            "Mean Squared Error: 0.12",
            "mean_absolute_error: 0.12",
            "jax.errors.SimplifiedTraceback: For simplicity, JAX has removed its internal frames from the traceback of the following exception.",
            "Exit: done",
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 88101 got signal: 15",
        ],
    },
    // error.json of torchrun's `@record` (TORCHELASTIC_ERROR_FILE).
    Pattern {
        id: "python/error-json",
        witness: Witness::Program,
        stems: &["{\"message\": {\"message\": \""],
        regex: r#"^\{"message": \{"message": "(?<kind>[\w.]*(?:Error|Exception|Interrupt|Exit)): ?(?<message>(?:[^"\\]|\\.)*)""#,
        read: raised,
        samples: &[
            "{\"message\": {\"message\": \"RuntimeError: boom\", \"extraInfo\": {\"py_callstack\": \"Traceback (most recent call last):\\n\", \"timestamp\": \"1700000000\"}}}",
        ],
        near_misses: &["{\"message\": {\"message\": \"all is well\"}}"],
    },
];

fn heading(caps: &Caps<'_>) -> Vec<Claim> {
    let who = Who { process: caps.text("name"), ..Who::default() };
    vec![Claim::new(What::Traceback(Opening::Heading), who)]
}

fn frame(caps: &Caps<'_>) -> Vec<Claim> {
    let (Some(file), Some(line)) = (caps.text("file"), caps.num("line")) else { return Vec::new() };
    vec![Claim::bare(What::Frame { file, line, function: caps.text("function") })]
}

fn raised(caps: &Caps<'_>) -> Vec<Claim> {
    // jax/_src/traceback_util.py chains markers before its exceptions to say that frames were left out.
    const MARKERS: [&str; 3] = ["SimplifiedTraceback", "UnfilteredStackTrace", "FilteredStackTrace"];
    let kind = caps.text("kind").unwrap_or_default();
    if MARKERS.iter().any(|marker| kind.ends_with(marker)) {
        return Vec::new();
    }
    let message = caps.get("message").unwrap_or_default().trim_end().to_owned();
    // torchrun's agent turns the signal it got into an exception; the speakers read the line as the stop that it is.
    if kind.ends_with("SignalException") && message.starts_with("Process ") && message.contains(" got signal: ") {
        return Vec::new();
    }
    // torch/_utils.py, 1.2 and later: the exception of a worker, which lives on, or of the pin-memory thread of the rank.
    let place = message.strip_prefix("Caught ").and_then(|rest| rest.split_once(" in ")).map(|(_, place)| place);
    let worker = place
        .and_then(|place| place.strip_prefix("DataLoader worker process "))
        .and_then(|n| n.trim_end_matches('.').parse().ok());
    let pins = place.is_some_and(|place| place.starts_with("pin memory thread"));
    let who = Who {
        role: if worker.is_some() { Role::Worker } else { Role::Unknown },
        worker,
        process: pins.then(|| "pin memory thread".to_owned()),
        ..Who::default()
    };
    vec![Claim::new(What::Raised { kind, message }, who)]
}
