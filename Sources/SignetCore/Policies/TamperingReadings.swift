/// What a process can see of itself, as it was read. What could not be read is nil, and says nothing.
public struct TamperingReadings: Sendable, Hashable {
    /// The process that traces this one: `TracerPid` of `/proc/self/status`; 0 is none.
    public var tracer: Int?
    /// The names of the environment's variables that have a value.
    public var environment: Set<String> = []
    /// Whether `/etc/ld.so.preload` has content.
    public var hasSystemPreload = false
    /// The program's file and its directory, with their permission bits.
    public var executable: [File] = []
    /// The directories that files were loaded from as code, with their permission bits.
    public var libraryDirectories: [File] = []
    /// Whether the program runs as root.
    public var isRoot = false
    /// Whether the program runs in a container.
    public var isInContainer = false
    /// `kernel.yama.ptrace_scope`.
    public var ptraceScope: Int?
    /// Whether the limit on core files is above zero.
    public var allowsCoreDumps = false

    /// A file or directory and who may write to it.
    public struct File: Sendable, Hashable {
        /// Where it is.
        public let path: String
        /// The permission bits.
        public let mode: UInt32

        /// A file or directory as it was found.
        public init(path: String, mode: UInt32) {
            self.path = path
            self.mode = mode
        }

        var isOpenToAll: Bool { mode & 0o002 != 0 }
        var isOpenToGroup: Bool { mode & 0o020 != 0 }
    }

    /// Readings of nothing.
    public init() {}
}

extension TamperingReadings {
    /// What the readings are signs of.
    public var signals: [TamperingSignal] { process + files + surroundings }

    private var process: [TamperingSignal] {
        var signals: [TamperingSignal] = []
        if let tracer, tracer != 0 {
            signals.append(TamperingSignal(.debuggerAttached, weight: 1, reason: "process \(tracer) traces this one"))
        }
        let loaders = environment.intersection(["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"]).sorted()
        if !loaders.isEmpty {
            signals.append(
                TamperingSignal(
                    .preloadedLibrary, weight: 0.8,
                    reason: "\(loaders.joined(separator: " and ")) put a library into this process"))
        }
        if hasSystemPreload {
            signals.append(
                TamperingSignal(.systemPreload, weight: 0.5, reason: "/etc/ld.so.preload puts a library into every process"))
        }
        return signals
    }

    private var files: [TamperingSignal] {
        var signals: [TamperingSignal] = []
        if let directory = libraryDirectories.first(where: \.isOpenToAll) {
            signals.append(
                TamperingSignal(
                    .libraryFromSharedDirectory, weight: 0.8,
                    reason: "a library was loaded from \(directory.path), which everybody can write to"))
        }
        if let file = executable.first(where: \.isOpenToAll) {
            signals.append(
                TamperingSignal(
                    .executableOpenToAll, weight: 0.8, reason: "everybody can write to \(file.path), where this program is"))
        } else if let file = executable.first(where: \.isOpenToGroup) {
            signals.append(
                TamperingSignal(
                    .executableOpenToGroup, weight: 0.3, reason: "a group can write to \(file.path), where this program is"))
        }
        return signals
    }

    private var surroundings: [TamperingSignal] {
        var signals: [TamperingSignal] = []
        if isRoot, isInContainer {
            signals.append(TamperingSignal(.rootInContainer, weight: 0.3, reason: "the program runs as root in a container"))
        }
        if ptraceScope == 0 {
            signals.append(
                TamperingSignal(
                    .tracingAllowed, weight: 0.1,
                    reason: "any program of the same person may trace this one (kernel.yama.ptrace_scope is 0)"))
        }
        if allowsCoreDumps {
            signals.append(TamperingSignal(.coreDumpsAllowed, weight: 0.1, reason: "a crash writes the memory to a file"))
        }
        return signals
    }
}
