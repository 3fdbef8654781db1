//! Memory that the runtimes of other languages were refused: Java, R, Julia, Go, Rust, Node, compilers and allocators.

use super::Pattern;
use crate::fact::{Claim, Resource, What, Witness};

fn refused(resource: Resource, by: &'static str) -> Vec<Claim> {
    vec![Claim::bare(What::Refused { resource, errno: None, bytes: None, by })]
}

pub(super) const TABLE: &[Pattern] = &[
    // HotSpot. The heap's limit is the program's own option.
    Pattern {
        id: "java/memory",
        witness: Witness::Program,
        stems: &["java.lang.OutOfMemoryError: ", "insufficient memory for the Java Runtime"],
        regex: r#"^(?:Exception in thread "[^"]*" |Caused by: |.*Uncaught exception in thread .*: )?java\.lang\.OutOfMemoryError: (?:(?<threads>unable to create (?:new )?native thread)|Java heap space|GC overhead limit exceeded|Metaspace|Direct buffer memory|Requested array size exceeds VM limit|Cannot reserve .*).*$|^# There is insufficient memory for the Java Runtime Environment to continue\.\s*$"#,
        read: |c| refused(if c.get("threads").is_some() { Resource::Threads } else { Resource::HostMemory }, "Java"),
        samples: &[
            "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space",
            "java.lang.OutOfMemoryError: GC overhead limit exceeded",
            "# There is insufficient memory for the Java Runtime Environment to continue.",
        ],
        near_misses: &["-XX:OnOutOfMemoryError: java.lang.OutOfMemoryError: x", "catch (java.lang.OutOfMemoryError: e)"],
    },
    // R's memory.c, Julia's gc.c.
    Pattern {
        id: "r/memory",
        witness: Witness::Program,
        stems: &["cannot allocate vector of size ", "memory exhausted (limit reached", "OutOfMemoryError()"],
        regex: r"^(?:Error(?: in .{1,120} :)?:? (?:cannot allocate vector of size [\d.]+ [KMG]b|(?:vector )?memory exhausted \(limit reached\?\))|ERROR: (?:LoadError: )?OutOfMemoryError\(\))\s*$",
        read: |c| refused(Resource::HostMemory, if c.line.text.starts_with("ERROR") { "Julia" } else { "R" }),
        samples: &[
            "Error: cannot allocate vector of size 3.0 Gb",
            "Error: vector memory exhausted (limit reached?)",
            "ERROR: LoadError: OutOfMemoryError()",
        ],
        near_misses: &["Warning: cannot allocate vector of size 3.0 Gb", "catch OutOfMemoryError()"],
    },
    // Go's runtime/malloc.go, Rust's alloc, V8, jemalloc, GCC and libiberty.
    Pattern {
        id: "runtime/memory",
        witness: Witness::Program,
        stems: &[
            "fatal error: runtime: ",
            "memory allocation of ",
            "JavaScript heap out of memory",
            "<jemalloc>: Error in m",
            "virtual memory exhausted: ",
            "out of memory allocating ",
        ],
        regex: r"^(?:fatal error: runtime: (?:out of memory|cannot allocate memory)|memory allocation of \d+ bytes failed|(?:<--- .* --->)?FATAL ERROR: .*(?:Allocation failed - )?JavaScript heap out of memory|<jemalloc>: Error in mmap\(\): err: 12, msg: Cannot allocate memory|virtual memory exhausted: Cannot allocate memory|(?:[\w./+-]+: )?out of memory allocating \d+ bytes(?: after a total of \d+ bytes)?)\s*$",
        read: |_| refused(Resource::HostMemory, "the program's runtime"),
        samples: &[
            "fatal error: runtime: out of memory",
            "memory allocation of 17179869184 bytes failed",
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            "<jemalloc>: Error in mmap(): err: 12, msg: Cannot allocate memory",
            "cc1plus: out of memory allocating 65536 bytes after a total of 3145728 bytes",
        ],
        near_misses: &["fatal error: runtime: x", "if memory allocation of 12 bytes failed, retry"],
    },
];
