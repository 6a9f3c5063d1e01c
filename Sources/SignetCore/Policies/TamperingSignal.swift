/// One sign that somebody has a hand in this process, or easily could. docs/policies.md says what each means.
public struct TamperingSignal: Sendable, Hashable {
    /// What was seen.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// Another process traces this one.
        case debuggerAttached
        /// A library was put into this process by its environment.
        case preloadedLibrary
        /// The system puts a library into every process.
        case systemPreload
        /// A library was loaded from a directory that everybody can write to.
        case libraryFromSharedDirectory
        /// Everybody can replace this program.
        case executableOpenToAll
        /// A group can replace this program.
        case executableOpenToGroup
        /// The program runs as root in a container.
        case rootInContainer
        /// Any program of the same person may attach itself.
        case tracingAllowed
        /// A crash writes the memory to a file.
        case coreDumpsAllowed
    }

    /// What was seen.
    public let name: Name
    /// How much it says, from 0 to 1; 1 is enough alone to lock an account whose issuer gives no threshold.
    public let weight: Double
    /// What was seen, in words, for the person to read. It names files and variables, never their content.
    public let reason: String

    /// A sign.
    public init(_ name: Name, weight: Double, reason: String) {
        self.name = name
        self.weight = weight
        self.reason = reason
    }
}

extension [TamperingSignal] {
    /// The sum of the weights, at most 1.
    public var score: Double { Swift.min(1, reduce(0) { $0 + $1.weight }) }
}
