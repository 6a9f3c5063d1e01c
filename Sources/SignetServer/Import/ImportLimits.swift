/// The limits on an export, which comes from outside: far more than the largest tenants have.
struct ImportLimits: Sendable {
    /// The maximum size of a file, in bytes.
    var fileSize = 32 << 20
    /// The maximum size of all files together, in bytes.
    var totalSize = 128 << 20
    /// The maximum number of files and directories.
    var entries = 20_000
    /// The maximum depth of directories below the first one.
    var directoryDepth = 16
    /// The maximum number of journeys.
    var journeys = 2_000
    /// The maximum number of nodes in a journey, including those on its pages.
    var nodes = 1_000
    /// The maximum number of outcomes of a node.
    var outcomes = 200
    /// The maximum length of a name or of a type, in characters.
    var nameLength = 200
    /// The maximum size of a script, in bytes.
    var scriptSize = 256 << 10
}
