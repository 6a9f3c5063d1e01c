/// A word of a command that the user may copy into a shell.
enum ShellWord {
    /// Returns the text as one word of a POSIX shell: unchanged when no character of it has a meaning to the shell, otherwise in
    /// single quotation marks.
    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(isPlain) { return text }
        let escaped = text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
        return "'\(escaped)'"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+", ",", ":", "@", "%", "=": true
        default: false
        }
    }
}
