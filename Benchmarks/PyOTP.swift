/// A python3 that makes codes with pyotp, and times its own loop: how long it takes to start is not counted.
final class PyOTP {
    private let process: ChildProcess

    private static let program = """
        import pyotp, sys, time
        hotp = pyotp.HOTP(sys.argv[1])
        print("ready", flush=True)
        for line in sys.stdin:
            command, number = line.split()
            if command == "code":
                print(hotp.at(int(number)), flush=True)
            else:
                counters = range(int(number))
                begin = time.perf_counter_ns()
                for counter in counters:
                    hotp.at(counter)
                print(time.perf_counter_ns() - begin, flush=True)
        """

    /// Nil when there is no python3 with pyotp here.
    init?() throws {
        guard let python = ChildProcess.find("python3") else { return nil }
        process = try ChildProcess(
            [python, "-c", Self.program, Sample.codeSecret], environment: ChildProcess.environment(), input: .pipe, output: .pipe)
        guard process.readLine() == "ready" else {
            stop()
            return nil
        }
    }

    /// One code, to see that it is the same as ours.
    func code(_ counter: Int) throws -> String { try ask("code \(counter)") }

    /// Measures this number of codes.
    func time(_ codes: Int) throws -> Duration {
        guard let nanoseconds = Int64(try ask("time \(codes)")) else { throw BenchError("pyotp did not say how long it took") }
        return .nanoseconds(nanoseconds)
    }

    /// Ends the process.
    func stop() {
        process.closePipes()
        // How it ends says nothing of what it measured.
        _ = try? process.wait()
    }

    private func ask(_ question: String) throws -> String {
        try process.write(question + "\n")
        guard let answer = process.readLine() else { throw BenchError("pyotp ended too early") }
        return answer
    }
}
