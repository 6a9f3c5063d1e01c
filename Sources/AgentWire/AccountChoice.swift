#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The choice of an account at the terminal, for a name that does not select one.
///
/// Only the full program shows the list to pick from. The small program that a package installs uses the same rules to leave such
/// a name to it.
package enum AccountChoice {
    /// The error code of a name that no account has.
    package static let notFound = "notFound"
    /// The error code of a name that several accounts have.
    package static let ambiguous = "ambiguous"

    /// True when the user can choose: the terminal shows standard error and is read as standard input.
    ///
    /// Standard output may be a pipe, as in `signet code gith | xclip`, because the list is written to standard error.
    package static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Returns true when the user can choose an account in place of an error.
    /// - Parameter code: The code of the error.
    /// - Returns: True for ``notFound`` and ``ambiguous``.
    package static func resolves(_ code: String) -> Bool { code == notFound || code == ambiguous }
}
