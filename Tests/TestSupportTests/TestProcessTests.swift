#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import Testing
import TestSupport

@Suite("A process started by a test")
struct TestProcessTests {
    @Test("An ended process gives its output, its errors and its exit code", arguments: [0, 1, 42, 255] as [Int32])
    func processGivesOutputAndExitCode(status: Int32) async throws {
        let ended = try await TestProcess.run("sh", ["-c", "echo said; echo complained >&2; exit \(status)"])
        #expect(ended.status == status)
        #expect(ended.output == "said\n")
        #expect(ended.errors == "complained\n")
    }

    @Test(
        "A process killed by a signal has the negated signal number as its status",
        arguments: [SIGTERM, SIGKILL, SIGINT, SIGPIPE])
    func killedProcessStatus(number: Int32) async throws {
        let process = try TestProcess("sleep", ["60"])
        #expect(!process.hasEnded)
        process.signal(number)
        #expect(await process.end().status == -number)
        // The process id may belong to another process now.
        process.signal(SIGKILL)
        #expect(process.soFar.status == -number)
    }

    @Test("A missing program does not start and leaves nothing behind", arguments: ["no-such-program", "/no/such/program", "/"])
    func missingProgramDoesNotStart(program: String) async throws {
        #expect(throws: CannotStart.self) { try TestProcess(program) }
        await #expect(throws: CannotStart.self) { try await TestProcess.run(program) }
    }

    @Test("A process that takes too long is killed, even after it has closed its pipes", arguments: ["", "exec >&- 2>&-; "])
    func killsLateProcess(closing: String) async throws {
        let ended = try await TestProcess.run("sh", ["-c", closing + "exec sleep 60"], within: .milliseconds(100))
        #expect(ended.status == -SIGKILL)
    }

    @Test("A process reads its input of any size, or an empty one", arguments: [0, 1, 65_536, 3_000_000])
    func processReadsInput(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let ended = try await TestProcess.run("cat", input: .bytes(bytes))
        #expect(ended.status == 0 && ended.output.utf8.elementsEqual(bytes))
        #expect(try await TestProcess.run("cat").output == "")
    }

    @Test(
        "A process that reads none or only part of its input ends normally",
        arguments: ["exit 3", "head -c 10 >/dev/null; exit 3"])
    func processMayIgnoreInput(script: String) async throws {
        let ended = try await TestProcess.run("sh", ["-c", script], input: .bytes([UInt8](repeating: 65, count: 1_000_000)))
        #expect(ended.status == 3)
    }

    @Test("A process with an open input runs until the input is closed")
    func processRunsWhileInputIsOpen() async throws {
        let process = try TestProcess("sh", ["-c", "echo ready; cat; echo over"], input: .open)
        try await process.waitForOutput { output, _ in output == "ready\n" }
        #expect(!process.hasEnded)
        process.closeInput()
        #expect(await process.end().output == "ready\nover\n")
    }

    @Test("Waiting for an output ends when the process ends without it")
    func waitEndsWithProcess() async throws {
        let process = try TestProcess("echo", ["something else"])
        await #expect(throws: TestProcess.OutputTimeout.self) {
            try await process.waitForOutput { output, _ in output.contains("ready") }
        }
    }

    @Test(
        "A process counts as ended while a grandchild holds its pipes, and its output is complete",
        arguments: ["sleep 60", "yes"])
    func grandchildDoesNotDelayEnd(program: String) async throws {
        let process = try TestProcess("sh", ["-c", "\(program) & seq 100; exit 5"], ownGroup: true)
        let ended = await process.end(within: .seconds(50))
        kill(-process.identifier, SIGKILL)
        #expect(ended.status == 5)
        let numbers = (1...100).map { Substring("\($0)") }
        #expect(Set(ended.output.split(separator: "\n")).isSuperset(of: numbers))
    }

    @Test("A process starts with default signal handling, whatever the starting thread blocks or ignores")
    func processHasDefaultSignals() async throws {
        // Passed through a lock: the thread sanitizer does not see every hand-over through a continuation.
        let started = Mutex<Result<TestProcess, any Error>?>(nil)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_BLOCK, &all, nil)
                let result = Result { try TestProcess("cat", ["/proc/self/status"]) }
                started.withLock { $0 = result }
                continuation.resume()
            }
        }
        let result = started.withLock { $0 }
        let process = try #require(result).get()
        let lines = await process.end().output.split(separator: "\n").map { $0.split(separator: "\t") }
        for name in ["SigBlk:", "SigIgn:"] {
            let named = lines.first { $0.first == name[...] }
            let line = try #require(named)
            // Signals 32 and 33 are reserved by the C library.
            let ours = UInt64(line[1], radix: 16).map { $0 & 0x7FFF_FFFF }
            #expect(ours == 0, "\(line)")
        }
    }

    @Test("A process inherits only its three standard files, however many processes are started at once")
    func inheritsOnlyStandardFiles() async throws {
        let inherited = open("/dev/null", O_RDONLY)
        defer { close(inherited) }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await TestProcess.run("ls", ["/proc/self/fd"]).output } }
            // The fourth is the directory that it lists.
            for try await files in group { #expect(files == "0\n1\n2\n3\n") }
        }
    }

    @Test("Fifty concurrent processes leave no open file behind, however they end")
    func leavesNoOpenFiles() async {
        // In a separate process: other tests open files at the same time.
        await #expect(processExitsWith: .success) {
            func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            func run(_ number: Int) async throws {
                switch number % 5 {
                case 0: _ = try await TestProcess.run("sh", ["-c", "echo said; exit 1"])
                case 1: _ = try await TestProcess.run("sleep", ["60"], within: .milliseconds(20))
                case 2: _ = try await TestProcess.run("true", input: .bytes([UInt8](repeating: 0, count: 200_000)))
                case 3: await #expect(throws: CannotStart.self) { try await TestProcess.run("no-such-program", input: .open) }
                default: await (try TestProcess.kept("sleep", ["60"])).stop()
                }
            }
            // The runtime opens some files at first use, for a sleep too.
            for number in 0..<5 { try await run(number) }
            try await Task.sleep(for: .milliseconds(10))
            let before = try count()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 { group.addTask { try await run(number) } }
                try await group.waitForAll()
            }
            // The thread that watches a process closes its last file a moment after it reports the end.
            let areClosed = try await eventually { try count() <= before }
            #expect(areClosed)
        }
    }

    @Test("A managed process is the program itself, and ends with its group on request")
    func managedProcessEndsWithGroup() async throws {
        let process = try TestProcess.kept("sh", ["-c", "sleep 600 & echo $$ $!; wait"])
        let words = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.line.split(separator: " ")
        #expect(words.first == "\(process.identifier)")
        let lastIdentifier = words.last.flatMap { pid_t($0) }
        let grandchild = try #require(lastIdentifier)
        process.signal(SIGSTOP)
        await process.stop()
        #expect(process.soFar.status == -SIGTERM)
        #expect(try await isGone(grandchild))
        #expect(await (try TestProcess.kept("no-such-program")).end().status == 127)
    }

    #if compiler(>=6.3)
    @Test(
        "A managed process ends with its starter, even if the starter is killed while the process is stopped",
        arguments: [false, true])
    func managedProcessEndsWithStarter(isStopped: Bool) async throws {
        try await TemporaryDirectory.with { directory in
            let file = directory.file("identifier")
            await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String, isStopped = isStopped as Bool] in
                let process = try TestProcess.kept("sh", ["-c", "echo ready; exec sleep 60"])
                try await process.waitForOutput { output, _ in output == "ready\n" }
                if isStopped { process.signal(SIGSTOP) }
                try "\(process.identifier)".write(toFile: file, atomically: false, encoding: .utf8)
                kill(getpid(), SIGKILL)
            }
            let identifier = try #require(pid_t(String(contentsOfFile: file, encoding: .utf8)))
            #expect(try await isGone(identifier))
        }
    }
    #endif

    /// Returns whether a process of another parent ends soon.
    private func isGone(_ identifier: pid_t) async throws -> Bool {
        try await eventually {
            let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
            return status.map { $0.contains(") Z ") } ?? true
        }
    }
}

@Suite("Programs and disks of the test machine")
struct ProgramsTests {
    @Test("Missing programs are named")
    func namesMissingPrograms() {
        #expect(Programs.missing(["sh", "no-such-program", "cat"]) == ["no-such-program"])
    }

    @Test("A program that was not built does not start")
    func unbuiltProgramDoesNotStart() {
        #expect(throws: CannotStart.self) { try TestProcess(Programs.built("never-built")) }
    }

    @Test("A small disk fills up and is removed afterwards", .enabled(if: SmallDisk.isPossible, "no disk can be mounted here"))
    func smallDiskFillsUp() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("disk")
            try await SmallDisk.with(path, kilobytes: 64) { disk in
                try disk.fill()
                #expect(!FileManager.default.createFile(atPath: path + "/more", contents: Data(repeating: 1, count: 4096)))
                disk.empty()
                #expect(FileManager.default.createFile(atPath: path + "/more", contents: Data(repeating: 1, count: 4096)))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
        }
    }

    @Test("A failing Python program is reported", .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
    func reportsFailingPythonProgram() async throws {
        try await Python.run("import sys; assert sys.argv[1:] == ['a', 'b']", "a", "b")
        await #expect(throws: CannotStart.self) { try await Python.run("assert False") }
    }
}
#endif
