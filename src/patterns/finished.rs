//! Lines by which a program or its wrapper says that it came to its end in good order.
//!
//! They matter where a scary line stands beside them, so each must be the whole statement of a known emitter.

use super::{Caps, Pattern};
use crate::fact::{Claim, Role, What, Who, Witness};

fn job(_: &Caps<'_>) -> Vec<Claim> {
    vec![Claim::new(What::Finished, Who::role(Role::Job))]
}

fn rank(_: &Caps<'_>) -> Vec<Claim> {
    vec![Claim::new(What::Finished, Who::role(Role::Rank))]
}

pub(super) const TABLE: &[Pattern] = &[
    // transformers/trainer.py.
    Pattern {
        id: "finished/transformers",
        witness: Witness::Program,
        stems: &["'train_runtime': ", "***** train metrics *****", "Training completed. Do not forget to share your model"],
        regex: r"^(?:\{'train_runtime': .*\}|\*{5} train metrics \*{5}|Training completed\. Do not forget to share your model on huggingface\.co/models =\))\s*$",
        read: rank,
        samples: &[
            "{'train_runtime': 1803.2, 'train_samples_per_second': 12.1, 'train_steps_per_second': 0.38, 'train_loss': 1.2, 'epoch': 3.0}",
            "***** train metrics *****",
            "Training completed. Do not forget to share your model on huggingface.co/models =)",
        ],
        near_misses: &["{'loss': 1.2, 'learning_rate': 0.0001, 'epoch': 0.1}", "***** eval metrics *****"],
    },
    // lightning/pytorch: the limit was reached.
    Pattern {
        id: "finished/lightning",
        witness: Witness::Program,
        stems: &["`Trainer.fit` stopped: "],
        regex: r"`Trainer\.fit` stopped: `max_(?:epochs|steps)=\d+` reached\.\s*$",
        read: rank,
        samples: &["`Trainer.fit` stopped: `max_epochs=3` reached."],
        near_misses: &["`Trainer.fit` stopped: `max_epochs={self.max_epochs!r}` reached."],
    },
    // ultralytics and YOLOv5, fairseq, DeiT and timm, nnU-Net. detectron2 prints `Total training time` after a crash too.
    Pattern {
        id: "finished/trainer",
        witness: Witness::Program,
        stems: &[" epochs completed in ", "done training in ", "Training time ", "Training done."],
        regex: r"(?:^|: |\]: ?)(?:\d+ epochs completed in [\d.]+ hours\.|done training in [\d.]+ seconds|Training time (?:\d+ days?, )?\d+:\d\d:\d\d|Training done\.)\s*$",
        read: rank,
        samples: &[
            "100 epochs completed in 1.234 hours.",
            "Training time 10:12:13",
            "| INFO | fairseq_cli.train: done training in 1234.5 seconds",
        ],
        near_misses: &[
            "3 epochs completed in total",
            "Total training time: 1:23:45 (0:00:01 on hooks)",
            "Training time per batch 0.23",
            "assert Training done. == text",
        ],
    },
    // The plain sentences of countless training scripts, only as a whole line.
    Pattern {
        id: "finished/sentence",
        witness: Witness::Program,
        stems: &[
            "raining finished",
            "raining complete",
            "inished training",
            "inished Training",
            "raining successfully",
            "ompleted training",
            "ompleted Training",
        ],
        regex: r"^(?:Training (?:finished|completed?|has finished|successfully (?:finished|completed))|Finished [Tt]raining|Completed [Tt]raining|training (?:finished|complete|completed))(?: successfully)?[.!]{0,3}\s*$",
        read: rank,
        samples: &["Training finished.", "Finished Training", "Training completed successfully!"],
        near_misses: &["Training finished with errors", "Training complete in 0m 3s? not yet", "print('Finished Training')"],
    },
    // PyTorch's own tutorial ends so.
    Pattern {
        id: "finished/tutorial",
        witness: Witness::Program,
        stems: &["Training complete in "],
        regex: r"^Training complete in \d+m \d+s\s*$",
        read: rank,
        samples: &["Training complete in 12m 3s"],
        near_misses: &["Training complete in {:.0f}m {:.0f}s"],
    },
    // GitLab's runner, Jenkins, CircleCI, Kubernetes jobs.
    Pattern {
        id: "finished/ci",
        witness: Witness::Supervisor,
        stems: &["Job succeeded", "Finished: SUCCESS", "CircleCI received exit code 0"],
        regex: r"^(?:Job succeeded|Finished: SUCCESS|CircleCI received exit code 0)\s*$",
        read: job,
        samples: &["Job succeeded", "Finished: SUCCESS"],
        near_misses: &["Finished: FAILURE", "Job succeeded after 3 failed attempts, see the log"],
    },
    // Wrappers that print the status of what they ran; `echo exit status $?` and `rc=$?` among them.
    Pattern {
        id: "finished/status",
        witness: Witness::Supervisor,
        stems: &["exit status 0", "exit code 0", "exit status: 0", "exit code: 0", "Exit code: 0", "Exit status: 0"],
        regex: r"^(?:(?:The )?(?:[Cc]ommand|[Pp]rocess|[Jj]ob) (?:exited|finished|completed|succeeded) with )?[Ee]xit (?:status|code):? 0\.?\s*$",
        read: job,
        samples: &["exit status 0", "Process finished with exit code 0"],
        near_misses: &["+ echo exit status 0", "exit status 0x7", "expected exit code 0, got 137"],
    },
];
