#if os(Linux)
import Foundation
import SignetTesting
import Testing

@Suite("A process that a test starts")
struct TestProcessTests {
    @Test("gives its output, its errors and its exit code", arguments: [0, 1, 42, 255] as [Int32])
    func ended(status: Int32) async throws {
        let ended = try await TestProcess.run("sh", ["-c", "echo said; echo complained >&2; exit \(status)"])
        #expect(ended.status == status)
        #expect(ended.output == "said\n")
        #expect(ended.errors == "complained\n")
    }

    @Test("that dies by a signal has its negated number as status", arguments: [SIGTERM, SIGKILL, SIGINT, SIGPIPE])
    func killed(number: Int32) async throws {
        let process = try TestProcess("sleep", ["60"])
        #expect(!process.hasEnded)
        process.signal(number)
        #expect(await process.end().status == -number)
        // Its number may be somebody else's now.
        process.signal(SIGKILL)
        #expect(process.soFar.status == -number)
    }

    @Test("that is not there does not start, and leaves nothing", arguments: ["no-such-program", "/no/such/program", "/"])
    func absent(program: String) async throws {
        #expect(throws: CannotStart.self) { try TestProcess(program) }
        await #expect(throws: CannotStart.self) { try await TestProcess.run(program) }
    }

    @Test("that takes too long is killed, also when it has closed its pipes", arguments: ["", "exec >&- 2>&-; "])
    func late(closing: String) async throws {
        let ended = try await TestProcess.run("sh", ["-c", closing + "exec sleep 60"], within: .milliseconds(100))
        #expect(ended.status == -SIGKILL)
    }

    @Test("reads what it is given, however much, or that there is nothing", arguments: [0, 1, 65_536, 3_000_000])
    func input(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let ended = try await TestProcess.run("cat", input: .bytes(bytes))
        #expect(ended.status == 0 && ended.output.utf8.elementsEqual(bytes))
        #expect(try await TestProcess.run("cat").output == "")
    }

    @Test(
        "that does not read what it is given, or only some, ends as it wants",
        arguments: ["exit 3", "head -c 10 >/dev/null; exit 3"])
    func unread(script: String) async throws {
        let ended = try await TestProcess.run("sh", ["-c", script], input: .bytes([UInt8](repeating: 65, count: 1_000_000)))
        #expect(ended.status == 3)
    }

    @Test("whose input stays open goes on until it is closed")
    func openInput() async throws {
        let process = try TestProcess("sh", ["-c", "echo ready; cat; echo over"], input: .open)
        try await process.said { output, _ in output == "ready\n" }
        #expect(!process.hasEnded)
        process.closeInput()
        #expect(await process.end().output == "ready\nover\n")
    }

    @Test("that ends without saying what was waited for is not waited for any longer")
    func notSaid() async throws {
        let process = try TestProcess("echo", ["something else"])
        await #expect(throws: TestProcess.NotSaid.self) { try await process.said { output, _ in output.contains("ready") } }
    }

    @Test(
        "has ended when it has, though a grandchild holds its pipes, and says all that it said", arguments: ["sleep 60", "yes"])
    func grandchild(program: String) async throws {
        let process = try TestProcess("sh", ["-c", "\(program) & seq 100; exit 5"], ownGroup: true)
        let ended = await process.end(within: .seconds(50))
        kill(-process.identifier, SIGKILL)
        #expect(ended.status == 5)
        let numbers = (1...100).map { Substring("\($0)") }
        #expect(Set(ended.output.split(separator: "\n")).isSuperset(of: numbers))
    }

    @Test("blocks no signal and ignores none, whatever the thread that starts it does")
    func signals() async throws {
        let process = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_BLOCK, &all, nil)
                continuation.resume(with: Result { try TestProcess("cat", ["/proc/self/status"]) })
            }
        }
        let lines = await process.end().output.split(separator: "\n").map { $0.split(separator: "\t") }
        for name in ["SigBlk:", "SigIgn:"] {
            let named = lines.first { $0.first == name[...] }
            let line = try #require(named)
            // 32 and 33 are the C library's own.
            let ours = UInt64(line[1], radix: 16).map { $0 & 0x7FFF_FFFF }
            #expect(ours == 0, "\(line)")
        }
    }

    @Test("has no other open file than its three, however many are started at once and whatever others have open")
    func inherits() async throws {
        let careless = open("/dev/null", O_RDONLY)
        defer { close(careless) }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await TestProcess.run("ls", ["/proc/self/fd"]).output } }
            // The fourth is the folder that it lists.
            for try await files in group { #expect(files == "0\n1\n2\n3\n") }
        }
    }

    @Test("leaves no open file behind, fifty at once, however they end")
    func descriptors() async {
        // In a process of its own: others open files at the same time.
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
            // What the runtime opens, it opens the first time: for a sleep, too.
            for number in 0..<5 { try await run(number) }
            try await Task.sleep(for: .milliseconds(10))
            let before = try count()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 { group.addTask { try await run(number) } }
                try await group.waitForAll()
            }
            // Our own thread of a process closes its last a moment after it said how that ended.
            let areClosed = try await eventually { try count() <= before }
            #expect(areClosed)
        }
    }

    @Test("that is kept is the program itself, and ends with its group when it is told to")
    func kept() async throws {
        let process = try TestProcess.kept("sh", ["-c", "sleep 600 & echo $$ $!; wait"])
        let words = try await process.said { output, _ in output.hasSuffix("\n") }.line.split(separator: " ")
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
    @Test("that is kept ends with us, even if we are killed and it stands still", arguments: [false, true])
    func outlived(standsStill: Bool) async throws {
        try await TemporaryDirectory.with { directory in
            let file = directory.file("identifier")
            await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String, standsStill = standsStill as Bool] in
                let process = try TestProcess.kept("sh", ["-c", "echo ready; exec sleep 60"])
                try await process.said { output, _ in output == "ready\n" }
                if standsStill { process.signal(SIGSTOP) }
                try "\(process.identifier)".write(toFile: file, atomically: false, encoding: .utf8)
                kill(getpid(), SIGKILL)
            }
            let identifier = try #require(pid_t(String(contentsOfFile: file, encoding: .utf8)))
            #expect(try await isGone(identifier))
        }
    }
    #endif

    /// Whether a process of somebody else's ends, which is soon.
    private func isGone(_ identifier: pid_t) async throws -> Bool {
        try await eventually {
            let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
            return status.map { $0.contains(") Z ") } ?? true
        }
    }
}

@Suite("What a test finds on the machine")
struct ProgramsTests {
    @Test("Programs that are missing are named")
    func missing() {
        #expect(Programs.missing(["sh", "no-such-program", "cat"]) == ["no-such-program"])
    }

    @Test("A program that was not built does not start")
    func notBuilt() {
        #expect(throws: CannotStart.self) { try TestProcess(Programs.built("never-built")) }
    }

    @Test("A small disk is full soon, and gone afterwards", .enabled(if: SmallDisk.isPossible, "no disk can be mounted here"))
    func smallDisk() async throws {
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

    @Test("A python program that fails says so", .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
    func python() async throws {
        try await Python.run("import sys; assert sys.argv[1:] == ['a', 'b']", "a", "b")
        await #expect(throws: CannotStart.self) { try await Python.run("assert False") }
    }
}
#endif
