#if os(Linux)
import Foundation
import SignetTesting

/// A message bus for one test: a real `dbus-daemon` that starts no other programs.
///
/// It ends with the body for which it was started, even when the body throws, and with the test process. Every connection may own
/// every name, so that a test can play a service of the session or of the system.
package struct MessageBus: Sendable {
    /// The address.
    package let address: String

    private let process: TestProcess

    /// An error that reports that the bus does not start.
    package struct Failure: Error, CustomStringConvertible {
        /// The output of the program.
        package let description: String
    }

    /// The required programs that are not in `PATH`.
    ///
    /// In Debian, `dbus-daemon` is in the package of the same name, which `dbus` brings along.
    package static var missingPrograms: [String] { Programs.missing(["dbus-daemon", "sh"]) }

    /// Runs `body` with a bus.
    /// - Throws: ``Failure``, or the error of `body`.
    package static func with<R>(_ body: (MessageBus) async throws -> R) async throws -> R {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let bus = try await MessageBus(in: directory)
        do {
            let result = try await body(bus)
            await bus.stop()
            return result
        } catch {
            await bus.stop()
            throw error
        }
    }

    /// Ends the bus, and so all connections to it.
    package func stop() async { await process.stop() }

    /// Writes the configuration of a bus.
    ///
    /// The bus starts no programs, so only programs that the test started answer on it.
    /// - Parameters:
    ///   - directory: The directory of the file.
    ///   - address: The address of the bus.
    /// - Returns: The path of the file.
    /// - Throws: The error of the file system.
    static func configuration(in directory: TemporaryDirectory, address: String) throws -> String {
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        let path = directory.file("bus.conf")
        try Data(configuration.utf8).write(to: URL(filePath: path))
        return path
    }

    private init(in directory: TemporaryDirectory) async throws {
        let address = "unix:path=\(directory.file("bus"))"
        process = try TestProcess.kept(
            "dbus-daemon",
            [
                "--config-file=\(try Self.configuration(in: directory, address: address))", "--nofork", "--nopidfile",
                "--print-address=1",
            ],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        self.address = address
        do {
            // The daemon prints its address when it accepts connections.
            let outcome = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }
            guard !outcome.output.isEmpty else { throw Failure(description: "dbus-daemon does not start: \(outcome.errors)") }
        } catch let error as TestProcess.OutputTimeout {
            throw Failure(description: "dbus-daemon does not start: \(error.soFar.errors)")
        }
    }
}
#endif
