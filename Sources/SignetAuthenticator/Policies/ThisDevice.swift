import Foundation
public import SignetCore

extension AccountPolicies {
    /// The default policies: `biometricAvailable`, which this device does not meet unless the app provides a
    /// `BiometricAvailability`, followed by `deviceTampering`, which inspects this process.
    public static let `default` = AccountPolicies([BiometricAvailablePolicy(), DeviceTamperingPolicy.thisDevice])
}

extension DeviceTamperingPolicy {
    /// The policy for this process.
    ///
    /// On Linux it reads `/proc`. Apple's systems don't have `/proc`; there it sees little more than the environment.
    public static let thisDevice = DeviceTamperingPolicy { .ofThisProcess() }
}

extension TamperingReadings {
    /// Reads the current state of this process.
    ///
    /// It takes about a millisecond.
    public static func ofThisProcess() -> TamperingReadings {
        var readings = TamperingReadings()
        readings.tracer = ProcessFiles.tracer(inStatus: ProcessFiles.text("/proc/self/status"))
        readings.environment = Set(ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }.keys)
        readings.hasSystemPreload = !ProcessFiles.text("/etc/ld.so.preload").trimmingWhitespace().isEmpty
        if let program = ProcessFiles.target(ofLink: "/proc/self/exe") {
            readings.executable = [program, ProcessFiles.directory(of: program)].compactMap(ProcessFiles.file)
        }
        readings.libraryDirectories = ProcessFiles.codeDirectories(inMaps: ProcessFiles.text("/proc/self/maps"))
            .compactMap(ProcessFiles.file)
        readings.isRoot = geteuid() == 0
        let marks = ["/.dockerenv", "/run/.containerenv"].compactMap(ProcessFiles.file)
        readings.isInContainer = !marks.isEmpty || readings.environment.contains("container")
        readings.ptraceScope = Int(ProcessFiles.text("/proc/sys/kernel/yama/ptrace_scope").trimmingWhitespace())
        readings.allowsCoreDumps = ProcessFiles.allowsCoreDumps(inLimits: ProcessFiles.text("/proc/self/limits"))
        return readings
    }
}

/// Access to the files in which the system describes a process, and parsers for them.
enum ProcessFiles {
    /// Returns the content of a file, at most about 16 MiB; an empty string when the file cannot be read.
    static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        // The kernel generates these files during the read, so their reported size is meaningless.
        while bytes.count < 16 << 20 {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink(path, $0, text.count) } ?? 0
            }
        }
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Returns the path and the permission bits of a file; nil when the file does not exist.
    static func file(_ path: String) -> TamperingReadings.File? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return TamperingReadings.File(path: path, mode: UInt32(status.st_mode) & 0o7777)
    }

    /// Returns the value of `TracerPid` in a process status.
    static func tracer(inStatus text: String) -> Int? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("TracerPid:") }
        return line.flatMap { Int(String($0.dropFirst("TracerPid:".count)).trimmingWhitespace()) }
    }

    /// Returns the directories of the files that are mapped as executable, each once.
    static func codeDirectories(inMaps text: String) -> [String] {
        var directories: [String] = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard parts.count == 6, parts[1].contains("x"), let path = parts.last.map({ String($0).trimmingWhitespace() }),
                path.hasPrefix("/")
            else { continue }
            let directory = directory(of: path)
            if !directories.contains(directory) { directories.append(directory) }
        }
        return directories
    }

    /// Returns true when the process limits allow a core dump, according to the soft limit in
    /// `Max core file size  0  unlimited  bytes`.
    static func allowsCoreDumps(inLimits text: String) -> Bool {
        let title = "Max core file size"
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(title) }) else { return false }
        return line.dropFirst(title.count).split(separator: " ").first.map { $0 != "0" } ?? false
    }
}
