/// Readings of the state of this process, from which tampering signals are derived.
///
/// A reading that is not available is nil and gives no signal.
public struct TamperingReadings: Sendable, Hashable {
    /// The id of the process that traces this one (`TracerPid` of `/proc/self/status`); 0 when the process is not traced.
    public var tracer: Int?
    /// The names of the environment variables that have a value.
    public var environment: Set<String> = []
    /// A Boolean value that indicates whether `/etc/ld.so.preload` has content.
    public var hasSystemPreload = false
    /// The executable file and its directory, with their permission bits.
    public var executable: [File] = []
    /// The directories from which code was loaded, with their permission bits.
    public var libraryDirectories: [File] = []
    /// A Boolean value that indicates whether the program runs as root.
    public var isRoot = false
    /// A Boolean value that indicates whether the program runs in a container.
    public var isInContainer = false
    /// The value of `kernel.yama.ptrace_scope`.
    public var ptraceScope: Int?
    /// A Boolean value that indicates whether the limit on core files is above zero.
    public var allowsCoreDumps = false

    /// A file or directory with its permission bits.
    public struct File: Sendable, Hashable {
        /// The path.
        public let path: String
        /// The permission bits.
        public let mode: UInt32

        /// Creates a file or directory.
        public init(path: String, mode: UInt32) {
            self.path = path
            self.mode = mode
        }

        var isOpenToAll: Bool { mode & 0o002 != 0 }
        var isOpenToGroup: Bool { mode & 0o020 != 0 }
    }

    /// Creates empty readings.
    public init() {}
}

extension TamperingReadings {
    /// The signals that the readings give.
    public var signals: [TamperingSignal] { process + files + environmentSignals }

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
                    reason: "a library was loaded from \(directory.path), which every user can write to"))
        }
        if let file = executable.first(where: \.isOpenToAll) {
            signals.append(
                TamperingSignal(
                    .executableOpenToAll, weight: 0.8,
                    reason: "every user can write to \(file.path), the directory of this program"))
        } else if let file = executable.first(where: \.isOpenToGroup) {
            signals.append(
                TamperingSignal(
                    .executableOpenToGroup, weight: 0.3, reason: "a group can write to \(file.path), where this program is"))
        }
        return signals
    }

    private var environmentSignals: [TamperingSignal] {
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
