//! Loader settings, world sizes and versions, as configs, command lines and banners print them.
//!
//! Advice and quoted source hold the same words (`Consider increasing the value of the num_workers argument`), so a line
//! must be a setting as a whole, the print of an object, or an echoed command.

use std::sync::LazyLock;

use regex::Regex;

use super::{Caps, Pattern};
use crate::fact::{Claim, Setting, What, Witness};

/// The setting that a key names, in any of the spellings of trainers; dashes are underscores, dots begin a new key.
fn setting(key: &str) -> Option<Setting> {
    let key = key.to_ascii_lowercase().replace('-', "_");
    Some(match key.rsplit('.').next().unwrap_or_default() {
        "num_workers"
        | "n_workers"
        | "nworkers"
        | "num_worker"
        | "number_workers"
        | "workers"
        | "workers_per_gpu"
        | "dataloader_num_workers"
        | "dataloader_workers"
        | "num_data_workers"
        | "data_workers"
        | "loader_workers"
        | "train_num_workers"
        | "num_workers_per_gpu" => Setting::Workers,
        "prefetch_factor" | "dataloader_prefetch_factor" => Setting::Prefetch,
        "batch_size"
        | "batchsize"
        | "samples_per_gpu"
        | "per_device_train_batch_size"
        | "per_gpu_train_batch_size"
        | "per_gpu_batch_size"
        | "batch_size_per_gpu"
        | "train_micro_batch_size_per_gpu"
        | "micro_batch_size"
        | "train_batch_size"
        | "device_train_microbatch_size" => Setting::BatchSize,
        "world_size" | "dist_world_size" | "num_processes" => Setting::WorldSize,
        "nproc_per_node" | "local_world_size" | "ngpus_per_node" | "ntasks_per_node" | "num_gpus" => Setting::RanksPerNode,
        "pin_memory" | "dataloader_pin_memory" => Setting::PinMemory,
        "persistent_workers" | "dataloader_persistent_workers" => Setting::PersistentWorkers,
        "epochs" | "num_epochs" | "num_train_epochs" | "max_epochs" | "n_epochs" | "nepochs" | "total_epochs" => Setting::Epochs,
        _ => return None,
    })
}

fn value(text: &str) -> Option<u64> {
    match text {
        "True" | "true" => Some(1),
        "False" | "false" => Some(0),
        digits => digits.trim_end_matches(".0").parse().ok(),
    }
}

fn claim(setting: Setting, value: u64) -> Claim {
    Claim::bare(What::Setting { setting, value })
}

/// `key=8`, `"key": 8`, `--key 8`, `'--key', '8'` anywhere in the line.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    let pair = r#"(?:^|[\s,({\['"])(?:--)?(?<key>[A-Za-z][\w.-]*)['"]?(?:\s*[:=]\s*|\s+|, )['"]?(?<value>\d+(?:\.0)?|[Tt]rue|[Ff]alse)(?:['"]?[\s,)}\]]|['"]?$)"#;
    Regex::new(pair).expect("a test compiles it")
});

/// All settings of a line whose form was recognised; the first value of a key counts.
fn pairs(c: &Caps<'_>) -> Vec<Claim> {
    let text: &str = &c.line.text;
    let mut claims: Vec<Claim> = Vec::new();
    let mut start = 0;
    while let Some(found) = text.get(start..).and_then(|rest| PAIR.captures(rest)) {
        let (Some(key), Some(number)) = (found.name("key"), found.name("value")) else { break };
        if let (Some(setting), Some(value)) = (setting(key.as_str()), value(number.as_str())) {
            let known = |claim: &Claim| matches!(claim.what, What::Setting { setting: other, .. } if other == setting);
            if !claims.iter().any(known) {
                claims.push(claim(setting, value));
            }
        }
        // The separator after a value is the one before the next key.
        start += number.end();
    }
    claims
}

fn version(c: &Caps<'_>) -> Vec<Claim> {
    let (Some(major), Some(minor)) = (c.num("major"), c.num("minor")) else { return Vec::new() };
    let mut claims = vec![Claim::bare(What::Version { program: "torch", major, minor })];
    claims.extend(c.num("world").map(|ranks| claim(Setting::WorldSize, ranks)));
    claims
}

fn named(c: &Caps<'_>) -> Vec<Claim> {
    [
        ("batch", Setting::BatchSize),
        ("workers", Setting::Workers),
        ("prefetch", Setting::Prefetch),
        ("world", Setting::WorldSize),
        ("world2", Setting::WorldSize),
        ("ranks", Setting::RanksPerNode),
        ("epochs", Setting::Epochs),
        ("epochs2", Setting::Epochs),
    ]
    .into_iter()
    .filter_map(|(group, setting)| c.num(group).map(|value| claim(setting, value)))
    .collect()
}

const KEYS: &[&str] = &[
    "orkers",
    "num_worker",
    "NUM_WORKERS",
    "prefetch_factor",
    "prefetch-factor",
    "batch_size",
    "batch-size",
    "BATCH_SIZE",
    "samples_per_gpu",
    "world_size",
    "WORLD_SIZE",
    "num_processes",
    "num-processes",
    "nproc_per_node",
    "nproc-per-node",
    "ntasks-per-node",
    "num_gpus",
    "num-gpus",
    "pin_memory",
    "epochs': ",
    "hs\": ",
    "epochs: ",
    "epochs = ",
    "epochs  ",
    "epochs..",
    "epochs=1",
    "epochs=2",
    "epochs=3",
    "epochs=4",
    "epochs=5",
    "epochs=6",
    "epochs=7",
    "epochs=8",
    "epochs=9",
    "epochs 1",
    "epochs 2",
    "epochs 3",
    "epochs 4",
    "epochs 5",
    "epochs 6",
    "epochs 7",
    "epochs 8",
    "epochs 9",
];

pub(super) const TABLE: &[Pattern] = &[
    // A line that is one setting: YAML, JSON, a printed dataclass, `key = value`, DeepSpeed's dotted table.
    Pattern {
        id: "settings/line",
        witness: Witness::Program,
        stems: KEYS,
        regex: r#"^(?:.*\b(?:INFO|DEBUG)\b(?::[\w.]+:|.*[\]>:|]\s+|.*\s-\s+)?)?[\s|│*]*(?:- )?(?:export )?['"]?(?<key>[A-Za-z][\w.-]*)['"]?\s*(?:[:=]|\.{3,}|\s)\s*['"]?(?<value>\d+(?:\.0)?|[Tt]rue|[Ff]alse)['"]?,?\s*[|│]?\s*$"#,
        read: |c| {
            let (Some(key), Some(number)) = (c.get("key"), c.get("value").and_then(value)) else { return Vec::new() };
            // DeepSpeed's table holds the batch of all ranks together under this name.
            if key == "train_batch_size" && c.line.text.contains("...") {
                return Vec::new();
            }
            setting(key).map(|setting| claim(setting, number)).into_iter().collect()
        },
        samples: &[
            "dataloader_num_workers=8,",
            "        \"num-workers\": 12",
            "  num_workers: 8",
            "    workers_per_gpu=2,",
            "[2023-07-20 15:44:55,020] [INFO] [launch.py:163:main] dist_world_size=2",
            "[2023-07-20 15:44:55,020] [INFO] [config.py:957:print]   train_micro_batch_size_per_gpu  4",
            "DATALOADER.NUM_WORKERS: 4",
            "persistent_workers: true",
            "WORLD_SIZE=8",
        ],
        near_misses: &[
            "Rerunning with num_workers=0 may give better error trace.",
            "[2023-07-20 15:44:55,020] [INFO] [config.py:957:print]   train_batch_size ............. 32",
            "num_workers: auto",
            "[INFO] use --num-workers 0",
            "4 workers [8 items]",
        ],
    },
    // Printed objects: argparse, dataclasses, dictionaries, Hydra's and ultralytics' one-line configs.
    Pattern {
        id: "settings/object",
        witness: Witness::Program,
        stems: KEYS,
        regex: r#"(?:^|[\s:=])(?:(?:argparse\.)?Namespace\(|\w*(?:Arguments|Config|Args|Params)\(|dict\(|\{\s*['"]\w|DataLoader\(\w+=|(?:\w+/\w+: )?task=\w+, mode=\w+,).*(?:orkers|prefetch|batch|samples_per|world_size|num_processes|nproc|pin_memory|epochs)"#,
        read: |c| {
            let mut claims = pairs(c);
            // ultralytics calls the batch of all ranks so; with one rank, which is what it says elsewhere, it is the loader's.
            if c.line.text.contains("task=")
                && claims.iter().all(|claim| !matches!(claim.what, What::Setting { setting: Setting::BatchSize, .. }))
            {
                let batch = c.line.text.split(", ").find_map(|pair| pair.strip_prefix("batch=")?.parse().ok());
                claims.extend(batch.map(|value| claim(Setting::BatchSize, value)));
            }
            claims
        },
        samples: &[
            "Namespace(K=100, arch='dla_34', batch_size=32, chunk_sizes=[15, 17], dataset='coco', lr=0.000125, master_batch_size=15, num_epochs=140, num_workers=4, task='ctdet')",
            "{'batch_size': 32, 'num_workers': 8, 'epochs': 10}",
            "engine/trainer: task=detect, mode=train, model=yolov8n.pt, data=coco.yaml, epochs=100, batch=16, imgsz=640, workers=8",
        ],
        near_misses: &[
            "Consider increasing the value of the `num_workers` argument` to `num_workers=11` in the `DataLoader` to improve performance.",
            "    batch_size=batch_size, num_workers=0 if debug else 4)",
        ],
    },
    // An echoed command; the launchers' own options and the script's stand on one line.
    Pattern {
        id: "settings/command",
        witness: Witness::Program,
        stems: KEYS,
        regex: r#"^(?:\+{1,3} |\S*[$%>] |.*\bcmd = |[Cc]ommand:? ["']?|.*\b(?:Killed|Bus error(?: \(core dumped\))?|Segmentation fault) +\(? *)?['"]?(?:\S*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun|horovodrun|bash|sh|\./\w+)\s(?:.*\s)?--(?:[\w.-]*(?:workers|batch[_-]size|prefetch[_-]factor)|nproc[_-]per[_-]node|ntasks-per-node|num[_-](?:processes|gpus)|[\w-]*epochs)[ =]['"]?\d"#,
        read: pairs,
        samples: &[
            "/opt/conda/bin/python3.12 train.py --batch-size 96 --num-workers 12",
            "Command \"/opt/conda/bin/python3.12 train.py --batch-size 96 --num-workers 12\"",
            "+ torchrun --standalone --nproc_per_node=8 train.py --workers=4",
        ],
        near_misses: &["usage: train.py [-h] [--batch-size N] [--num-workers N]", "try python train.py --num-workers 0"],
    },
    // A plain banner: `batch size 16, 4 workers, …`.
    Pattern {
        id: "settings/banner",
        witness: Witness::Program,
        stems: &["batch size "],
        regex: r"^batch size (?<batch>\d+), (?<workers>\d+) workers(?:, prefetch factor (?<prefetch>\d+))?(?:, \d+ batches per epoch)?(?:, (?<epochs>\d+) epochs)?\s*$",
        read: named,
        samples: &["batch size 16, 4 workers, prefetch factor 2, 60 batches per epoch, 2 epochs"],
        near_misses: &["batch size 16 is too large for 4 workers"],
    },
    // Sentences of ultralytics, transformers, accelerate, detectron2, Lightning, timm, mmcv and NCCL.
    Pattern {
        id: "settings/sentence",
        witness: Witness::Program,
        stems: &[
            " dataloader workers",
            "Instantaneous batch size per device = ",
            "Num Epochs = ",
            "um processes: ",
            "umber of processes: ",
            "World size: ",
            "world size: ",
            "Starting with ",
            "GLOBAL_RANK: ",
            "1 device per process. Process ",
            " nranks 1",
            " nranks 2",
            " nranks 3",
            " nranks 4",
            " nranks 5",
            " nranks 6",
            " nranks 7",
            " nranks 8",
            " nranks 9",
            "workflow: [(",
        ],
        regex: r"^(?:.*[>\]:-]\s+|\s*)(?:Using (?<workers>\d+) dataloader workers(?: per process)?|Instantaneous batch size per device = (?<batch>\d+)|Num Epochs = (?<epochs>\d+)|Num(?:ber of)? processes: (?<world>\d+)|(?:Rank of current process: \d+\. )?[Ww]orld size: (?<world2>\d+)|All distributed processes registered\. Starting with (?<world3>\d+) processes|(?:Initializing distributed|initializing distributed|initializing ddp): GLOBAL_RANK: \d+, MEMBER: \d+/(?<world4>\d+)|Training in distributed mode with .*Process \d+, total (?<world5>\d+).*|workflow: \[\(.*\)\], max: (?<epochs2>\d+) epochs|.*NCCL INFO .* rank \d+ nranks (?<world6>\d+) .*)\s*$",
        read: |c| {
            let world = ["world3", "world4", "world5", "world6"].into_iter().find_map(|group| c.num(group));
            named(c).into_iter().chain(world.map(|ranks| claim(Setting::WorldSize, ranks))).collect()
        },
        samples: &[
            "Using 8 dataloader workers",
            "[INFO|trainer.py:2371] 2025-04-04 03:12:01,140 >>   Num Epochs = 1",
            "  Instantaneous batch size per device = 8",
            "[03/02 07:12:22 detectron2]: Rank of current process: 0. World size: 1",
            "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4",
            "2021-11-06 09:52:51,385 - mmdet - INFO - workflow: [('train', 1)], max: 12 epochs",
            "gpu01:97:214 [0] NCCL INFO comm 0x7f2c4c000b60 rank 0 nranks 8 cudaDev 0 busId 1000 - Init START",
        ],
        near_misses: &[
            "Using 8 dataloader workers is too many",
            "the world size: is 4",
            "Total train batch size (w. parallel, distributed & accumulation) = 64",
        ],
    },
    // torch.utils.collect_env, mmcv, detectron2, transformers, pip, ultralytics, and plain banners.
    Pattern {
        id: "settings/torch",
        witness: Witness::Program,
        stems: &[
            "orch version",
            "orch.version",
            "orch version:",
            "torch==",
            "torch 2.",
            "torch 1.",
            "torch  ",
            "PyTorch: ",
            "PyTorch  ",
            " torch-",
            "PyTorch Version",
            "orch: 1.",
            "orch: 2.",
            "orch=2.",
            "Torch 2.",
            "Torch 1.",
        ],
        regex: r"^(?:(?:.*[\]>:-] ?)?\s*(?:- )?(?:PyTorch [Vv]ersion(?: \(GPU\?\))?:? |PyTorch: |[Tt]orch [Vv]ersion:? |torch\.version: |pytorch\.version=|torch\.__version__[:= ]+)|(?:Collecting )?torch==|torch {1,60}|PyTorch {1,60}|(?:[^`'#]*[|,;(] ?)(?:[Pp]y[Tt]orch|torch)[ :=]{1,3}|.*Successfully installed .*\storch-|(?:Ultralytics|YOLO).*\storch-)(?<major>\d+)\.(?<minor>\d+)(?:\.\d+)?[\w.+-]*(?:\s+python \S+\s+world size (?<world>\d+)|,.*|\s.*)?\s*$",
        read: version,
        samples: &[
            "torch 2.15.0+cu132  python 3.11.7  world size 1",
            "PyTorch version: 2.1.0+cu118",
            "torch==2.1.0",
            "python 3.11.9 | torch 2.12.0+cu130 | cuda 13.0 | 1 x NVIDIA L40S",
            "PyTorch 2.1.0",
            "torch                   2.1.0",
            "Torch version 1.11.0+cu102 has not been tested with this release",
            "[b7a1c09d2e11] 2022-12-29 11:20:53,411 (abs_task:1157) INFO: pytorch.version=1.10.1, cuda.available=False, cudnn.version=None",
            "Ultralytics YOLOv8.0.196 🚀 Python-3.10.6 torch-2.0.0+cu118 CUDA:0 (NVIDIA A100, 40536MiB)",
        ],
        near_misses: &["torch>=1.7", "torchvision==0.16.0", "ModuleNotFoundError: No module named 'torch'"],
    },
];

#[cfg(test)]
mod tests {
    use super::{Setting, TABLE, What};
    use crate::line::{Envelope, Line};

    fn read(text: &str) -> Vec<(Setting, u64)> {
        let line = Line { text: text.into(), number: 1, envelope: Envelope::default() };
        let claims = crate::patterns::read(&line).into_iter();
        let own = claims.filter(|(pattern, _)| TABLE.iter().any(|own| own.id == pattern.id));
        own.filter_map(|(_, claim)| match claim.what {
            What::Setting { setting, value } => Some((setting, value)),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn one_line_may_hold_several_settings() {
        assert_eq!(
            read("Namespace(batch_size=32, master_batch_size=15, num_epochs=140, num_workers=4)"),
            [(Setting::BatchSize, 32), (Setting::Epochs, 140), (Setting::Workers, 4)]
        );
        assert_eq!(
            read("torchrun --nproc_per_node=8 train.py --batch-size 96 --num-workers 12"),
            [(Setting::RanksPerNode, 8), (Setting::BatchSize, 96), (Setting::Workers, 12)]
        );
        assert_eq!(read("engine/trainer: task=detect, mode=train, epochs=100, batch=16, workers=8").len(), 3);
    }

    #[test]
    fn advice_is_no_setting() {
        for text in [
            "Consider increasing the value of the `num_workers` argument` to `num_workers=11` in the `DataLoader`",
            "Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.",
            "Start the container with a larger --shm-size, or use fewer workers.",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
    }
}
