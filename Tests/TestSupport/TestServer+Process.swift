#if os(Linux)
import Foundation
package import SignetCore

extension TestServer {
    /// `signet serve` in a process of its own, on the loopback interface.
    ///
    /// It ends when its standard input is closed, also when the test process ends without closing it.
    package struct Process: Sendable {
        /// The process.
        package let process: TestProcess
        /// The server's announcement.
        package let ready: JSONValue

        /// An error that reports that the server announced nothing usable, or did not end with status 0.
        package struct Failure: Error, CustomStringConvertible {
            package let description: String
        }

        /// Starts a server and waits until it listens.
        /// - Parameters:
        ///   - options: Options of `signet serve`, in addition to those for the port, the announcement and the end.
        ///   - port: The port of the server; nil for a free port.
        ///   - environment: The environment of the process.
        /// - Returns: The server, which listens.
        /// - Throws: ``CannotStart``, or ``TestProcess/OutputTimeout`` with the output of a server that does not start.
        package static func start(
            _ options: [String] = [], port: ReservedPort? = nil, environment: [String: String]
        ) async throws -> Process {
            let arguments = ["serve", "--port", String(port?.number ?? 0), "--exit-on-stdin-eof", "--json"] + options
            let process = try TestProcess(Programs.built("signet"), arguments, environment: environment, input: .open)
            do {
                let line = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }
                return Process(process: process, ready: try JSON.value(of: line.output.utf8))
            } catch {
                process.signal(SIGKILL)
                throw error
            }
        }

        /// Runs `body` with a server and ends the server afterwards.
        /// - Throws: The error of ``start(_:port:environment:)``, of `body` or of ``stop()``.
        package static func with<R>(
            _ options: [String] = [], port: ReservedPort? = nil, environment: [String: String],
            _ body: (Process) async throws -> R
        ) async throws -> R {
            let server = try await start(options, port: port, environment: environment)
            do {
                let value = try await body(server)
                try await server.stop()
                return value
            } catch {
                server.process.signal(SIGKILL)
                throw error
            }
        }

        /// Closes the server's standard input and waits until it has ended.
        /// - Throws: ``Failure`` when the exit status isn't 0.
        package func stop() async throws {
            process.closeInput()
            let outcome = await process.end()
            guard outcome.status == 0 else {
                throw Failure(description: "signet serve ended with \(outcome.status): \(outcome.errors)")
            }
        }

        /// The base URL, for example `http://127.0.0.1:43121/am`.
        package var url: String { ready["url"]?.string ?? "" }
        /// The port of the base URL.
        package var port: Int {
            get throws { try Endpoint(unchecked: url).port }
        }
        /// The name of the first user.
        package var userName: String { ready["users"]?.array?.first?["name"]?.string ?? "" }
        /// The generated password of the first user.
        package var password: String { ready["users"]?.array?.first?["password"]?.string ?? "" }
    }
}
#endif
