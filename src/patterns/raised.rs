//! How the last line of a Python exception begins, for the wordings that follow the type.

/// The beginning of an exception's last line: nothing, pytest's `E`, SageMaker's `ErrorMessage "`, the mark of an error in GitHub Actions and
/// Azure Pipelines, or a logger's prefix with its level; then the type.
///
/// Most lines have no logger's prefix, so that one is looked for last.
///
/// Anything else before the message (prose, comments, quotes, a shell's `+`) means that somebody tells of the error.
macro_rules! raised {
    () => {
        concat!(
            r#"^(?:E {2,}| ?|ErrorMessage "|\#\#\[error\]|::error(?: [^:]*)?::)(?:(?:[^'"`\#│<>+$|][^'"`\#│<>+$]*)?\b(?:ERROR|CRITICAL|FATAL)\b[^'"`#│]*?[:\]-] )??"#,
            r"(?:[\w.]*(?:Error|Exception): )?"
        )
    };
}
