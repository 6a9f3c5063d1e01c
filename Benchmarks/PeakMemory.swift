import Glibc

/// The peak memory of a program.
enum PeakMemory {
    /// The peak resident set of `command`, in MiB.
    ///
    /// Linux counts the memory of the parent process as the program's own first peak, and this process is larger than what
    /// it measures. So a shell, which is small, starts the program and leaves; this process adopts the orphan and waits for it.
    static func mebibytes(of command: [String], _ environment: [String]) throws -> Double {
        guard adoptsOrphans() else {
            throw BenchError("this system does not let a process adopt another one, so its memory cannot be measured")
        }
        let shell = try ChildProcess(
            ["/bin/sh", "-c", "\"$@\" >/dev/null & echo $!", "sh"] + command, environment: environment, input: .nowhere,
            output: .pipe)
        guard let identifier = shell.readLine().flatMap({ pid_t($0) }) else { throw BenchError("the shell started nothing") }
        try shell.wait()
        return Double(try ChildProcess.wait(identifier).ru_maxrss) / 1024
    }

    /// Makes this process the parent of processes whose own has gone.
    ///
    /// `prctl` is not in the Glibc module, so it is looked up.
    private static func adoptsOrphans() -> Bool {
        typealias Control = @convention(c) (_ option: CInt, _ argument: CUnsignedLong) -> CInt
        let setChildSubreaper: CInt = 36
        guard let control = dlsym(nil, "prctl") else { return false }
        return unsafeBitCast(control, to: Control.self)(setChildSubreaper, 1) == 0
    }
}
