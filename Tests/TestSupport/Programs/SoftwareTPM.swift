#if os(Linux)
import Foundation
import Glibc
import SignetTesting

/// A software TPM 2.0 for a test: `swtpm`, with its own state, on a free port of this machine. Unlike a hardware TPM, a test can
/// restart, clear and suspend it freely.
///
/// Like a TPM without a resource manager it serves one connection at a time and has room for three objects. With a resource
/// manager (`tpm2-abrmd`, on its own D-Bus) it serves several connections. A process then needs ``environment`` to find it.
package actor SoftwareTPM {
    /// The TCTI string that connects to the TPM, for a `TPMProtector` or the `tpm2-tools` programs.
    package nonisolated let tcti: String
    /// The environment variables that a process needs to use ``tcti``; empty without a resource manager.
    package nonisolated let environment: [String: String]

    private let directory: TemporaryDirectory
    private let port: UInt16
    private let isManaged: Bool
    private var device: TestProcess?
    private var bus: TestProcess?
    private var manager: TestProcess?

    /// Returns a description of the programs that are not installed; nil when all are installed.
    package static func missing(resourceManager: Bool = false) -> String? {
        let needed =
            ["swtpm", "tpm2_getcap", "tpm2_clear"] + (resourceManager ? ["tpm2-abrmd", "dbus-daemon", "dbus-send"] : [])
        let missing = Programs.missing(needed)
        return missing.isEmpty ? nil : "not installed: \(missing.joined(separator: ", "))"
    }

    /// Runs `body` with a new TPM.
    ///
    /// The TPM and its processes and files are removed afterwards, even when `body` throws.
    ///
    /// Pass a `port` only when the test depends on it. The default is a free port.
    package static func with<R>(
        resourceManager: Bool = false, port: UInt16? = nil, _ body: (SoftwareTPM) async throws -> sending R
    ) async throws -> sending R {
        let tpm = try await started(resourceManager, port)
        do {
            let result = try await body(tpm)
            await tpm.end()
            return result
        } catch {
            await tpm.end()
            throw error
        }
    }

    /// Starts a TPM, in several attempts: another program can take a port after it was found free.
    private static func started(_ resourceManager: Bool, _ port: UInt16?) async throws -> SoftwareTPM {
        for attempt in 1...5 {
            let tpm = try SoftwareTPM(port: port ?? freePorts(), isManaged: resourceManager)
            do {
                try await tpm.start()
                return tpm
            } catch {
                await tpm.end()
                if attempt == 5 { throw error }
            }
        }
        throw CannotStart(reason: "no TPM started")
    }

    private init(port: UInt16, isManaged: Bool) throws {
        self.port = port
        self.isManaged = isManaged
        directory = try TemporaryDirectory()
        tcti = isManaged ? "tabrmd:bus_type=session" : Self.deviceTCTI(port)
        environment = isManaged ? ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory.file("bus"))"] : [:]
    }

    /// Starts the TPM with its saved state.
    /// - Throws: ``CannotStart``.
    package func start() async throws {
        device = try await startDevice()
        if isManaged { try await startManager() }
    }

    private func startManager() async throws {
        let bus = try TestProcess.kept(
            "dbus-daemon", ["--session", "--nofork", "--nopidfile", "--address=unix:path=\(directory.file("bus"))"])
        self.bus = bus
        try await ready(bus, "dbus-daemon") { FileManager.default.fileExists(atPath: directory.file("bus")) }
        let manager = try TestProcess.kept(
            "tpm2-abrmd", ["--session", "--tcti=\(Self.deviceTCTI(port))"] + (geteuid() == 0 ? ["--allow-root"] : []),
            environment: Self.ours(environment))
        self.manager = manager
        try await ready(manager, "tpm2-abrmd") {
            let answer = try? await run(
                "dbus-send",
                [
                    "--session", "--dest=org.freedesktop.DBus", "--print-reply", "/org/freedesktop/DBus",
                    "org.freedesktop.DBus.NameHasOwner", "string:com.intel.tss2.Tabrmd",
                ])
            return answer?.contains("true") ?? false
        }
    }

    /// Stops the TPM and keeps its state.
    package func stop() async {
        for process in [manager, bus, device] { await process?.stop() }
        (manager, bus, device) = (nil, nil, nil)
        try? FileManager.default.removeItem(atPath: directory.file("bus"))
    }

    /// Stops and starts the TPM, which simulates a power cycle of the machine.
    /// - Throws: ``CannotStart``.
    package func restart() async throws {
        await stop()
        try await start()
    }

    /// Starts `swtpm` at the same port each time, because a test may stop the TPM and start it again later.
    ///
    /// Another program that searches for a free port may hold the port briefly, so the start is attempted several times.
    private func startDevice() async throws -> TestProcess {
        var attempts = 5
        while true {
            attempts -= 1
            let device = try TestProcess.kept(
                "swtpm",
                [
                    "socket", "--tpm2", "--tpmstate", "dir=\(directory.path)", "--server",
                    "type=tcp,port=\(port),bindaddr=127.0.0.1", "--ctrl", "type=tcp,port=\(port + 1),bindaddr=127.0.0.1",
                    "--flags", "startup-clear",
                ])
            do {
                // The two ports start to listen one after the other.
                try await ready(device, "swtpm") { Self.answers(port + 1) && Self.answers(port) }
                return device
            } catch {
                await device.stop()
                guard attempts > 0 else { throw error }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Clears the TPM, as its owner would.
    ///
    /// All existing keys become invalid.
    /// - Throws: ``CannotStart``.
    package func clear() async throws {
        _ = try await tool("tpm2_clear", "-c", "platform")
    }

    /// The id of the TPM process, for a test that suspends it directly; nil while the TPM is stopped.
    package var processIdentifier: Int32? { device?.identifier }

    /// Suspends the TPM.
    ///
    /// Its clients wait until ``resume()``.
    package func pause() { device?.signal(SIGSTOP) }

    /// Resumes the TPM.
    package func resume() { device?.signal(SIGCONT) }

    /// Runs a program of `tpm2-tools` with this TPM and returns its output.
    /// - Throws: ``CannotStart`` when the program fails.
    package func tool(_ name: String, _ arguments: String...) async throws -> String {
        try await run(name, arguments)
    }

    private func run(_ program: String, _ arguments: [String]) async throws(CannotStart) -> String {
        let ended = try await TestProcess.run(
            program, arguments, environment: Self.ours(environment.merging(["TPM2TOOLS_TCTI": tcti]) { $1 }))
        guard ended.status == 0 else {
            throw CannotStart(reason: "\(program) ended with \(ended.status): \(ended.output)\(ended.errors)")
        }
        return ended.output
    }

    /// Returns the environment of this process with additional variables.
    private static func ours(_ additions: [String: String]) -> [String: String] {
        ProcessInfo.processInfo.environment.merging(additions) { $1 }
    }

    private func end() async {
        await stop()
        directory.remove()
    }

    private func ready(_ process: TestProcess, _ name: String, _ isReady: () async -> Bool) async throws {
        let end = ContinuousClock.now + TestTimeout.default
        while await !isReady() {
            guard !process.hasEnded, ContinuousClock.now < end else {
                let soFar = process.soFar
                throw CannotStart(reason: "\(name) does not come up: \(soFar.output)\(soFar.errors)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private static func deviceTCTI(_ port: UInt16) -> String { "swtpm:host=127.0.0.1,port=\(port)" }
}

// MARK: Ports

extension SoftwareTPM {
    /// Returns a free port whose successor is also free.
    ///
    /// tpm2-tss expects the control channel there.
    private static func freePorts() throws -> UInt16 {
        for _ in 0..<100 {
            // The range is below the ephemeral ports, so that a connection of the system does not take the port before a restart.
            let port = UInt16.random(in: 10_000..<32_000)
            if isFree(port), isFree(port + 1) { return port }
        }
        throw CannotStart(reason: "no two free ports were found")
    }

    private static func isFree(_ port: UInt16) -> Bool {
        with(port) { Glibc.bind($0, $1, $2) } == 0
    }

    private static func answers(_ port: UInt16) -> Bool {
        with(port) { Glibc.connect($0, $1, $2) } == 0
    }

    private static func with(_ port: UInt16, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
#endif
