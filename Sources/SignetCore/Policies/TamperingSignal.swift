/// A sign that another party has tampered with this process, or could easily do so.
///
/// docs/reference/policies.md explains each signal.
public struct TamperingSignal: Sendable, Hashable {
    /// The name of a signal.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// Another process traces this one.
        case debuggerAttached
        /// The environment of this process loads a library into it.
        case preloadedLibrary
        /// The system loads a library into every process.
        case systemPreload
        /// A library was loaded from a directory that all users can write to.
        case libraryFromSharedDirectory
        /// All users can replace this program.
        case executableOpenToAll
        /// A group can replace this program.
        case executableOpenToGroup
        /// The program runs as root in a container.
        case rootInContainer
        /// Any program of the same user may trace this process.
        case tracingAllowed
        /// A crash writes the memory of the process to a file.
        case coreDumpsAllowed
    }

    /// The name.
    public let name: Name
    /// The weight, from 0 to 1.
    ///
    /// A weight of 1 is enough to lock an account whose issuer gives no threshold.
    public let weight: Double
    /// A description for the user.
    ///
    /// It names files and variables, never their content.
    public let reason: String

    /// Creates a signal.
    public init(_ name: Name, weight: Double, reason: String) {
        self.name = name
        self.weight = weight
        self.reason = reason
    }
}

extension [TamperingSignal] {
    /// The sum of the weights, limited to 1.
    public var score: Double { Swift.min(1, reduce(0) { $0 + $1.weight }) }
}
