#if os(Linux)
package import SignetTesting
import Foundation
import Glibc

/// A session bus and a GNOME Keyring for one test, with their own home directory.
///
/// They end with the body for which they were started, even when it throws, and with the test process.
///
/// libsecret finds the bus through the process environment. A program that uses this keyring must therefore be started as a
/// process with ``environment``.
package struct Keyring: Sendable {
    /// The environment of a process that uses this keyring.
    ///
    /// It contains nothing of the current environment except `PATH`.
    package let environment: [String: String]
    /// The directory of the keyring's files.
    package let files: String

    private let processes: [Part: Int32]

    /// One of the two processes.
    package enum Part: Sendable, Hashable {
        /// The session bus.
        case bus
        /// The keyring daemon.
        case daemon
    }

    /// An error of the bus or the keyring: it did not start, or a command failed.
    package struct Failure: Error, CustomStringConvertible {
        /// The reason, with the output of the program.
        package let description: String
    }

    /// The required programs that are not in `PATH`.
    ///
    /// In Debian they are in the packages `dbus`, `dbus-bin` and `gnome-keyring`.
    package static var missingPrograms: [String] {
        Programs.missing(["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "sh"])
    }

    /// Runs `body` with a bus and a keyring.
    /// - Parameters:
    ///   - password: The password that unlocks the keyring, or creates it when `home` has none yet. With a wrong password the
    ///     keyring stays locked. With an empty one no password is given: the daemon starts as it does when a program activates
    ///     it. With nil only the bus is started.
    ///   - home: A directory that keeps the keyring for another run; nil for one that is removed after the body.
    ///   - body: The code that uses the keyring.
    /// - Returns: The value that `body` returns.
    /// - Throws: ``Failure``, or the error of `body`.
    package static func with<R>(
        password: String?, home: TemporaryDirectory? = nil, _ body: (Keyring) async throws -> R
    ) async throws -> R {
        let directory = try home ?? TemporaryDirectory()
        defer { if home == nil { directory.remove() } }
        let environment = Self.environment(in: directory.path)
        let configuration = try prepare(directory)
        let supervisor = try TestProcess.kept(
            "sh", ["-c", script, "sh", configuration],
            environment: environment.merging(password.map { ["PASSWORD": $0] } ?? [:]) { $1 })
        do {
            let keyring = try await Keyring(supervisor, environment: environment, files: directory.file("data/keyrings"))
            let result = try await body(keyring)
            await supervisor.stop()
            return result
        } catch {
            await supervisor.stop()
            throw error
        }
    }

    /// Sends a signal to one of the processes, for example `SIGSTOP` to simulate a process that hangs.
    package func signal(_ number: Int32, to part: Part) {
        if let process = processes[part] { kill(process, number) }
    }

    /// Returns the id of a process; nil for a keyring daemon that was not started.
    package func processID(of part: Part) -> Int32? { processes[part] }

    /// Locks the default collection.
    /// - Throws: ``Failure``.
    package func lock() async throws {
        _ = try await send("/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock", "array:objpath:\(Self.collection)")
    }

    /// Returns the D-Bus object paths of the items in the default collection.
    /// - Throws: ``Failure``.
    package func items() async throws -> [String] {
        let answer = try await send(
            Self.collection, "org.freedesktop.DBus.Properties.Get", "string:org.freedesktop.Secret.Collection", "string:Items")
        return answer.split(separator: "\"").map(String.init).filter { $0.hasPrefix("/") }
    }

    /// Deletes an item, as its owner could in the keyring's user interface.
    /// - Throws: ``Failure``.
    package func delete(_ item: String) async throws {
        _ = try await send(item, "org.freedesktop.Secret.Item.Delete")
    }

    /// Returns the number of connections to the bus, including the one that this call uses.
    /// - Throws: ``Failure``.
    package func connections() async throws -> Int {
        let names = try await send("/", "org.freedesktop.DBus.ListNames", to: "org.freedesktop.DBus")
        return names.split(separator: "\"").count { $0.hasPrefix(":") }
    }

    /// Makes the session collection, which is never written to disk, the default collection.
    /// - Throws: ``Failure``.
    package func makeSessionCollectionDefault() async throws {
        _ = try await send(
            "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.SetAlias", "string:default",
            "objpath:/org/freedesktop/secrets/collection/session")
    }

    private static let collection = "/org/freedesktop/secrets/collection/login"
}

// MARK: Starting and ending

extension Keyring {
    /// The script that starts the two processes, prints their ids, and kills them on SIGTERM.
    private static let script = """
        trap 'kill -KILL $bus $daemon; wait; exit' TERM
        dbus-daemon --config-file="$1" --nofork --nopidfile &
        bus=$!
        daemon=-
        owned() {
            dbus-send --bus="$DBUS_SESSION_BUS_ADDRESS" --print-reply --dest=org.freedesktop.DBus / \\
                org.freedesktop.DBus.NameHasOwner "string:$1" 2>&1 | grep -q "boolean true"
        }
        until owned org.freedesktop.DBus; do kill -0 $bus || exit 1; sleep 0.02; done
        if [ "${PASSWORD+set}" ]; then
            printf %s "$PASSWORD" | gnome-keyring-daemon --foreground ${PASSWORD:+--unlock} --components=secrets >&2 &
            daemon=$!
            until owned org.freedesktop.secrets; do kill -0 $daemon || break; sleep 0.02; done
        fi
        echo "$bus $daemon ready"
        wait
        """

    private static var searchPath: String { ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin" }

    private static func environment(in home: String) -> [String: String] {
        [
            "PATH": searchPath, "HOME": home, "XDG_RUNTIME_DIR": "\(home)/run", "XDG_DATA_HOME": "\(home)/data",
            "XDG_CONFIG_HOME": "\(home)/config", "XDG_CACHE_HOME": "\(home)/cache",
            "DBUS_SESSION_BUS_ADDRESS": address(in: home), "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8",
        ]
    }

    /// Prepares the home directory, and returns the path of the bus's configuration.
    private static func prepare(_ home: TemporaryDirectory) throws -> String {
        unlink(home.file("bus"))
        mkdir(home.file("run"), 0o700)
        return try MessageBus.configuration(in: home, address: address(in: home.path))
    }

    private static func address(in home: String) -> String { "unix:path=\(home)/bus" }

    private init(_ supervisor: TestProcess, environment: [String: String], files: String) async throws {
        let outcome: TestProcess.Outcome
        do {
            outcome = try await supervisor.waitForOutput { output, _ in output.hasSuffix("ready\n") }
        } catch let error as TestProcess.OutputTimeout {
            throw Failure(description: "the keyring does not start: \(error.soFar.errors)")
        }
        let words = outcome.output.split(whereSeparator: \.isWhitespace)
        self.environment = environment
        self.files = files
        processes = [Part.bus: words.first, .daemon: words.dropFirst().first].compactMapValues { $0.flatMap { Int32($0) } }
    }

    private func send(_ path: String, _ method: String, _ arguments: String..., to name: String = "org.freedesktop.secrets")
        async throws -> String
    {
        let bus = environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        let sent = try await TestProcess.run(
            "dbus-send",
            ["--bus=\(bus)", "--print-reply", "--reply-timeout=10000", "--dest=\(name)", path, method]
                + arguments,
            environment: environment)
        guard sent.status == 0 else { throw Failure(description: "\(method): \(sent.errors)") }
        return sent.output
    }
}
#endif
