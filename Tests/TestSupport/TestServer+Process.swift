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
        /// The base URL, for example `http://127.0.0.1:43121/am`.
        package let url: String
        /// The port of the base URL.
        package let port: Int

        private init(process: TestProcess, ready: JSONValue) throws {
            guard let url = ready["url"]?.string else { throw Failure(description: "the server announced no address") }
            (self.process, self.ready, self.url) = (process, ready, url)
            port = try Endpoint(unchecked: url).port
        }

        /// The first user with a password that the server generated.
        /// - Throws: ``Failure`` when the server announced no such user.
        package var user: (name: String, password: String) {
            get throws {
                let first = ready["users"]?.array?.first
                guard let name = first?["name"]?.string, let password = first?["password"]?.string else {
                    throw Failure(description: "the server announced no user with a password")
                }
                return (name, password)
            }
        }

        /// An error that reports that the server announced nothing usable, or did not end with status 0.
        package struct Failure: Error, CustomStringConvertible {
            package let description: String

            /// Creates an error.
            package init(description: String) { self.description = description }
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
                return try Process(process: process, ready: JSON.value(of: line.output.utf8))
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
    }
}
#endif
