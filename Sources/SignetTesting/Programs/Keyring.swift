#if os(Linux)
import Foundation
import Glibc

/// A session bus and a GNOME Keyring of a test's own, with a home of their own. They end with the body they were started for,
/// whatever it throws, and with the test's process.
///
/// libsecret looks for the bus in the environment of the process, so what is to use this keyring is started as a process with
/// ``environment``.
public struct Keyring: Sendable {
    /// What a process needs to use this keyring; nothing else of the present environment but `PATH`.
    public let environment: [String: String]
    /// The directory of the keyring's files.
    public let files: String

    private let processes: [Part: Int32]

    /// One of the two processes.
    public enum Part: Sendable, Hashable {
        /// The session bus.
        case bus
        /// The keyring's daemon.
        case daemon
    }

    /// Something did not start, or did not do as it was told.
    public struct Failure: Error, CustomStringConvertible {
        /// What, and what it said.
        public let description: String
    }

    /// The programs this needs that are not in `PATH`. Debian has them in `dbus`, `dbus-bin` and `gnome-keyring`.
    public static var missingPrograms: [String] {
        Programs.missing(["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "sh"])
    }

    /// Runs `body` with a bus and a keyring.
    /// - Parameters:
    ///   - password: What the keyring is unlocked with, or made with when `home` has none yet. Another one than it was made
    ///     with leaves it locked, and an empty one is none: the daemon starts as it does when a program wakes it. With nil
    ///     there is a bus and no keyring.
    ///   - home: A directory that keeps the keyring for a second time; nil for one that goes with the body.
    ///   - body: What is done meanwhile.
    /// - Throws: ``Failure``, or what `body` throws.
    public static func with<R>(
        password: String?, home: TemporaryDirectory? = nil, _ body: (Keyring) async throws -> R
    ) async throws -> R {
        let directory = try home ?? TemporaryDirectory()
        defer { if home == nil { directory.remove() } }
        let environment = Self.environment(in: directory.path)
        try prepare(directory)
        let supervisor = try TestProcess.kept(
            "sh", ["-c", script], environment: environment.merging(password.map { ["PASSWORD": $0] } ?? [:]) { $1 })
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

    /// Sends a signal to one of the processes, for example `SIGSTOP`: one that hangs.
    public func signal(_ number: Int32, to part: Part) {
        if let process = processes[part] { kill(process, number) }
    }

    /// The number of a process; nil for a keyring that was not started.
    public func processID(of part: Part) -> Int32? { processes[part] }

    /// Locks the default collection.
    /// - Throws: ``Failure``.
    public func lock() async throws {
        _ = try await send("/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock", "array:objpath:\(Self.collection)")
    }

    /// The bus's names of the items in the default collection.
    /// - Throws: ``Failure``.
    public func items() async throws -> [String] {
        let answer = try await send(
            Self.collection, "org.freedesktop.DBus.Properties.Get", "string:org.freedesktop.Secret.Collection", "string:Items")
        return answer.split(separator: "\"").map(String.init).filter { $0.hasPrefix("/") }
    }

    /// Deletes an item, as its owner could in the keyring's own window.
    /// - Throws: ``Failure``.
    public func delete(_ item: String) async throws {
        _ = try await send(item, "org.freedesktop.Secret.Item.Delete")
    }

    /// How many connections there are to the bus, the one that asks included.
    /// - Throws: ``Failure``.
    public func connections() async throws -> Int {
        let names = try await send("/", "org.freedesktop.DBus.ListNames", to: "org.freedesktop.DBus")
        return names.split(separator: "\"").count { $0.hasPrefix(":") }
    }

    /// Makes the collection the default one that is never written to a disk.
    /// - Throws: ``Failure``.
    public func makeSessionCollectionDefault() async throws {
        _ = try await send(
            "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.SetAlias", "string:default",
            "objpath:/org/freedesktop/secrets/collection/session")
    }

    private static let collection = "/org/freedesktop/secrets/collection/login"
}

// MARK: Starting and ending

extension Keyring {
    /// Starts both, says their numbers, and ends them when it is told to end.
    private static let script = """
        trap 'kill -KILL $bus $daemon; wait; exit' TERM
        dbus-daemon --config-file="$HOME/bus.conf" --nofork --nopidfile &
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
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(home)/bus", "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8",
        ]
    }

    /// A bus that starts no services: what answers on it is what the test started.
    private static func prepare(_ home: TemporaryDirectory) throws {
        unlink(home.file("bus"))
        mkdir(home.file("run"), 0o700)
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(home.file("bus"))</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        try Data(configuration.utf8).write(to: URL(filePath: home.file("bus.conf")))
    }

    private init(_ supervisor: TestProcess, environment: [String: String], files: String) async throws {
        let said: TestProcess.Outcome
        do {
            said = try await supervisor.said { output, _ in output.hasSuffix("ready\n") }
        } catch let error as TestProcess.NotSaid {
            throw Failure(description: "the keyring does not start: \(error.soFar.errors)")
        }
        let words = said.output.split(whereSeparator: \.isWhitespace)
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
