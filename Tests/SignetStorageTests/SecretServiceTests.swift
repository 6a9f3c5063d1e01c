#if SecretService && os(Linux)
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing

private let missing = Keyring.missingPrograms

@Suite("The keyring", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct SecretServiceTests {
    private let dataKey = Base64.encode((0..<32).map { UInt8($0) }, as: .url)
    private let context = Base64.encode(Array("a vault".utf8), as: .url)

    @Test("opens what it sealed, in another process and after a new start of its daemon")
    func roundTrip() async throws {
        try await TemporaryDirectory.with { home in
            let wrapped = try await Keyring.with(password: "right", home: home) { keyring in
                let wrapped = try await keyring.value("wrap", dataKey, context)
                try await keyring.expect("unwrap", wrapped, context, gives: dataKey)
                return wrapped
            }
            #expect(try Base64.decode(wrapped).count == 77)
            try await Keyring.with(password: "right", home: home) { keyring in
                try await keyring.expect("unwrap", wrapped, context, gives: dataKey)
            }
        }
    }

    @Test("holds one item for each wrapping, with a random key, and none of what was wrapped")
    func oneItem() async throws {
        try await Keyring.with(password: "right") { keyring in
            let first = try await keyring.value("wrap", dataKey, context)
            #expect(try await keyring.items().count == 1)
            let second = try await keyring.value("wrap", dataKey, context)
            #expect(try await keyring.items().count == 2)
            let (one, two) = (try Base64.decode(first), try Base64.decode(second))
            #expect(one[1..<17] != two[1..<17])
            // The key of one wrapping does not open the other, and its id is bound to it.
            let spliced = Base64.encode(Array(one[..<17]) + Array(two[17...]), as: .url)
            #expect(try await keyring.probe("unwrap", spliced, context).hasPrefix("error keyMismatch"))
            let otherContext = Base64.encode(Array("another vault".utf8), as: .url)
            #expect(try await keyring.probe("unwrap", first, otherContext).hasPrefix("error keyMismatch"))
        }
    }

    @Test("refuses what it wrapped when any byte of it is changed, and when it is cut")
    func tampering() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try Base64.decode(try await keyring.value("wrap", dataKey, context))
            for index in wrapped.indices {
                var changed = wrapped
                changed[index] ^= 0x10
                let answer = try await keyring.probe("unwrap", Base64.encode(changed, as: .url), context)
                // Another id is another key, which the keyring does not have.
                let expected = index == 0 ? "newerFormat" : index < 17 ? "keyUnavailable" : "keyMismatch"
                #expect(answer.hasPrefix("error \(expected)"), "byte \(index): \(answer)")
            }
            for length in [0, 1, 16, 17, 45, 76] {
                let answer = try await keyring.probe("unwrap", Base64.encode(Array(wrapped[..<length]), as: .url), context)
                #expect(answer.hasPrefix("error corrupt"), "\(length) bytes: \(answer)")
            }
            #expect(try await keyring.items().count == 1)
        }
    }

    @Test("that is locked, because its password was not the one, says so, and nothing is made in it")
    func wrongPassword() async throws {
        try await TemporaryDirectory.with { home in
            let (wrapped, before) = try await Keyring.with(password: "right", home: home) { keyring in
                let wrapped = try await keyring.value("wrap", dataKey, context)
                _ = try await keyring.value("remember", "vault", "5")
                return (wrapped, try contents(keyring))
            }
            try await Keyring.with(password: "wrong", home: home) { keyring in
                try await expectLocked(keyring, wrapped: wrapped)
                #expect(try contents(keyring) == before)
            }
            try await Keyring.with(password: "right", home: home) { keyring in
                try await keyring.expect("unwrap", wrapped, context, gives: dataKey)
                try await keyring.expect("epoch", "vault", gives: "5")
            }
        }
    }

    @Test("that nobody unlocked, because a program woke its daemon, says that it is locked, and nothing is made in it")
    func neverUnlocked() async throws {
        try await TemporaryDirectory.with { home in
            let wrapped = try await Keyring.with(password: "right", home: home) { try await $0.value("wrap", dataKey, context) }
            try await Keyring.with(password: "", home: home) { keyring in
                let before = try contents(keyring)
                try await expectLocked(keyring, wrapped: wrapped)
                #expect(try contents(keyring) == before)
            }
        }
    }

    @Test("that was locked while it ran says so, and nothing is made in it")
    func lockedLater() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            _ = try await keyring.value("remember", "vault", "5")
            let before = try contents(keyring)
            try await keyring.lock()
            try await expectLocked(keyring, wrapped: wrapped)
            #expect(try contents(keyring) == before)
        }
    }

    @Test("that is locked, and whose request to be unlocked is dismissed, is unavailable, and nothing is made in it")
    func dismissed() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            let before = try contents(keyring)
            try await keyring.lock()
            for arguments in [["unwrap", wrapped, context], ["wrap", dataKey, context]] {
                // No window can be opened here, which the daemon answers like a person who closes it.
                let answer = try await SecretServiceProbe.run(["10000", "5000"] + arguments, environment: keyring.environment)
                #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("dismissed"), "\(answer)")
            }
            #expect(try await keyring.probe("availability", unlock: 5000) == "ok usable")
            #expect(try contents(keyring) == before)
        }
    }

    @Test("without a bus is unavailable, and no bus is started", arguments: [true, false])
    func noBus(isNamed: Bool) async throws {
        try await TemporaryDirectory.with { directory in
            var environment = ["HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "DISPLAY": ":99"]
            if isNamed { environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(directory.file("nobody"))" }
            for verb in [["wrap", dataKey, context], ["epoch", "vault"], ["owner"]] {
                let answer = try await SecretServiceProbe.run(["10000", "-"] + verb, environment: environment)
                #expect(answer.hasPrefix("error keyUnavailable"), "\(answer)")
                #expect(isNamed || answer.contains("no session bus"), "\(answer)")
            }
            let availability = try await SecretServiceProbe.run(["10000", "-", "availability"], environment: environment)
            #expect(availability.hasPrefix("ok unusable"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        }
    }

    @Test("that nobody serves is unavailable, and nobody is its owner")
    func noDaemon() async throws {
        try await Keyring.with(password: nil) { keyring in
            let answer = try await keyring.probe("wrap", dataKey, context)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("no program serves"), "\(answer)")
            try await keyring.expect("owner", gives: "nobody")
            #expect(try await keyring.value("availability").hasPrefix("unusable no program serves"))
        }
    }

    @Test("tells who serves it, and that it is usable")
    func owner() async throws {
        try await Keyring.with(password: "right") { keyring in
            let daemon = try #require(keyring.processID(of: .daemon))
            try await keyring.expect("owner", gives: "\(daemon) gnome-keyring-daemon")
            try await keyring.expect("availability", gives: "usable")
        }
    }

    @Test("whose daemon is gone is unavailable")
    func daemonGone() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            keyring.signal(SIGKILL, to: .daemon)
            while try await keyring.value("owner") != "nobody" { try await Task.sleep(for: .milliseconds(20)) }
            let answer = try await keyring.probe("unwrap", wrapped, context)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("no program serves"), "\(answer)")
        }
    }

    @Test("that hangs, or whose bus hangs, is given up", arguments: [Keyring.Part.daemon, .bus])
    func hanging(part: Keyring.Part) async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            keyring.signal(SIGSTOP, to: part)
            for verb in [
                ["unwrap", wrapped, context], ["wrap", dataKey, context], ["remember", "vault", "9"], ["epoch", "vault"],
            ] {
                // Its own wait would take 25 seconds; a process that takes 15 is killed, and its answer is none.
                let answer = try await SecretServiceProbe.run(
                    ["300", "-"] + verb, environment: keyring.environment, within: .seconds(15))
                #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("did not answer"), "\(answer)")
            }
            keyring.signal(SIGCONT, to: part)
            try await keyring.expect("unwrap", wrapped, context, gives: dataKey)
            try await keyring.expect("epoch", "vault", gives: "none")
            #expect(try await keyring.items().count == 1)
        }
    }

    @Test("whose bus dies in the middle of a call does not take the process with it")
    func busDies() async throws {
        try await Keyring.with(password: "right") { keyring in
            keyring.signal(SIGSTOP, to: .daemon)
            let before = try await keyring.connections()
            async let answer = keyring.probe("wrap", dataKey, context)
            while try await keyring.connections() == before { try await Task.sleep(for: .milliseconds(10)) }
            keyring.signal(SIGKILL, to: .bus)
            let said = try await answer
            #expect(said.hasPrefix("error keyUnavailable"), "\(said)")
        }
    }

    @Test("is given up when its bus lets everybody in and then never speaks, which GLib cannot be told to stop waiting for")
    func silentBus() async throws {
        try await TemporaryDirectory.with { directory in
            let bus = try SilentBus(path: directory.file("bus"))
            let answer = try await SecretServiceProbe.run(
                ["300", "-", "wrap", dataKey, context],
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(bus.path)"], within: .seconds(15))
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("did not answer"), "\(answer)")
        }
    }

    @Test("without a default collection, or with one that ends with the session, takes no key", arguments: [true, false])
    func noLastingCollection(isThere: Bool) async throws {
        try await Keyring.with(password: isThere ? "right" : "") { keyring in
            if isThere { try await keyring.makeSessionCollectionDefault() }
            for verb in [["wrap", dataKey, context], ["remember", "vault", "1"], ["epoch", "vault"]] {
                let answer = try await SecretServiceProbe.run(["10000", "-"] + verb, environment: keyring.environment)
                #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("default collection"), "\(answer)")
            }
            let availability = try await keyring.value("availability")
            #expect(availability.hasPrefix("unusable") && availability.contains("default collection"))
            if isThere { #expect(try await keyring.items() == []) }
        }
    }

    @Test("without the vault's key is unavailable, and no other key is made")
    func deletedKey() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            for item in try await keyring.items() { try await keyring.delete(item) }
            let answer = try await keyring.probe("unwrap", wrapped, context)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("does not hold"), "\(answer)")
            #expect(try await keyring.items() == [])
        }
    }

    @Test("from which a key is taken in the middle of calls never gives another outcome than open, or not there")
    func deletedMeanwhile() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            async let outcomes = keyring.value("insist", wrapped, context, "20")
            try await Task.sleep(for: .milliseconds(300))
            for item in try await keyring.items() { try await keyring.delete(item) }
            let counts = try await outcomes
            let kinds = Set(counts.split(separator: " ").map { $0.prefix { $0 != "=" } })
            #expect(kinds.isSubset(of: ["opened", "keyUnavailable"]) && kinds.contains("keyUnavailable"), "\(counts)")
        }
    }

    private func expectLocked(_ keyring: Keyring, wrapped: String) async throws {
        for verb in [
            ["unwrap", wrapped, context], ["wrap", dataKey, context], ["epoch", "vault"], ["epoch", "another"],
            ["remember", "vault", "6"], ["remember", "another", "1"],
        ] {
            let answer = try await SecretServiceProbe.run(["10000", "-"] + verb, environment: keyring.environment)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("locked"), "\(verb): \(answer)")
        }
        #expect(try await keyring.value("availability").hasPrefix("unusable the keyring is locked"))
    }

    /// What the keyring has on disk.
    private func contents(_ keyring: Keyring) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: keyring.files)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(keyring.files)/\($0)"))) })
    }
}

@Suite("An epoch in the keyring", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct KeyringEpochTests {
    @Test("is none at first, goes up only, and is one item for each vault")
    func upOnly() async throws {
        try await Keyring.with(password: "right") { keyring in
            try await keyring.expect("epoch", "vault", gives: "none")
            for epoch in ["1", "2", "7", "7", "18446744073709551615"] {
                try await keyring.expect("remember", "vault", epoch, gives: "remembered")
                try await keyring.expect("epoch", "vault", gives: epoch)
            }
            #expect(try await keyring.probe("remember", "vault", "18446744073709551614").hasPrefix("error rolledBack"))
            try await keyring.expect("epoch", "vault", gives: "18446744073709551615")
            try await keyring.expect("epoch", "another vault", gives: "none")
            #expect(try await keyring.items().count == 1)
        }
    }

    @Test("stays the highest that was told when four processes tell theirs at once")
    func atOnce() async throws {
        try await Keyring.with(password: "right") { keyring in
            try await withThrowingTaskGroup(of: String.self) { group in
                for first in 1...4 {
                    group.addTask { try await keyring.probe("climb", "vault", "\(first)", "4", "60", timeout: 30_000) }
                }
                for try await answer in group { #expect(answer.hasPrefix("ok climbed"), "\(answer)") }
            }
            try await keyring.expect("epoch", "vault", gives: "60")
            #expect(try await keyring.items().count == 1)
        }
    }

    @Test("and keys are told and kept by two processes at once")
    func keysAtOnce() async throws {
        let (dataKey, context) = (Base64.encode([UInt8](repeating: 5, count: 32), as: .url), Base64.encode([1], as: .url))
        try await Keyring.with(password: "right") { keyring in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let wrapped = try await keyring.value("wrap", dataKey, context)
                        try await keyring.expect("unwrap", wrapped, context, gives: dataKey)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await keyring.items().count == 8)
        }
    }
}

@Suite("libsecret")
struct LibSecretTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    private static let hasHeaders: Bool = {
        let paths = ["/usr/lib", "/usr/share"] + ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu" }
        return paths.contains { FileManager.default.fileExists(atPath: "\($0)/pkgconfig/libsecret-1.pc") }
    }()

    @Test("has the prototypes that are repeated here", .enabled(if: hasHeaders, "libsecret-1-dev is not installed"))
    func prototypes() async throws {
        let check = """
            cc -fsyntax-only -Wall -Werror -I"$1/Sources/CSecretService/include" $(pkg-config --cflags libsecret-1) \
                "$1/Tests/SecretServicePrototypes/prototypes.c"
            """
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let compiled = try await TestProcess.run(
            "sh", ["-c", check, "sh", Self.package], environment: ["PATH": path])
        #expect(compiled.status == 0, "\(compiled.errors)")
    }

    @Test(
        "that is not on the machine leaves a program that runs, and a keyring that says what is missing",
        .enabled(if: geteuid() == 0 && !missing.contains("sh"), "it takes root to hide a library"))
    func absent() async throws {
        let hide = """
            library=$(ldconfig -p | sed -n 's/.*libsecret-1.so.0.* => //p' | head -n 1)
            [ -z "$library" ] || mount --bind /dev/null "$library" || exit 77
            exec "$@"
            """
        let answer = try await SecretServiceProbe.run(
            ["1000", "-", "availability"], environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nobody"],
            through: ["unshare", "--mount", "sh", "-c", hide, "sh"])
        #expect(answer.hasPrefix("ok unusable the keyring needs libsecret"), "\(answer)")
    }

    @Test("A call that met a change by another program is made once more, and only once more, and no other is")
    func retry() {
        for (code, failures, calls) in [(StoreError.Code.busy, 1, 2), (.busy, 2, 2), (.keyUnavailable, 1, 1), (.busy, 0, 1)] {
            var made = 0
            let outcome = SignetStorageTests.code {
                try KeyringAccess.twice { () throws(StoreError) in
                    made += 1
                    if made <= failures { throw StoreError(code, "test", "a change") }
                }
            }
            #expect(made == calls)
            #expect(outcome == (failures >= calls ? code : nil))
        }
    }
}
#endif
