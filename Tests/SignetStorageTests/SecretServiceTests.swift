#if canImport(Glibc)
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing
import TestSupport

private let missing = Keyring.missingPrograms

@Suite("The desktop's keyring as a key protector", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct SecretServiceTests {
    private let dataKey = Base64.encode((0..<32).map { UInt8($0) }, as: .url)
    private let context = Base64.encode(Array("a vault".utf8), as: .url)

    @Test("The keyring opens the data key it sealed, in another process and after a restart of its daemon")
    func keyringOpensSealedKey() async throws {
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

    @Test("The keyring holds one item with a random key for each wrapping, and none of the data key")
    func storesOneItemPerWrapping() async throws {
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

    @Test("The keyring refuses a wrapping with any byte changed or cut off")
    func refusesTamperedKeyringWrapping() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try Base64.decode(try await keyring.value("wrap", dataKey, context))
            for index in wrapped.indices {
                var changed = wrapped
                changed[index] ^= 0x10
                let answer = try await keyring.probe("unwrap", Base64.encode(changed, as: .url), context)
                // Another id means another key, which the keyring does not have.
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

    @Test("A keyring locked by a wrong password is reported as locked, and nothing is created in it")
    func reportsWrongKeyringPassword() async throws {
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

    @Test("A keyring never unlocked, since a program started its daemon, is reported as locked and unchanged")
    func reportsNeverUnlockedKeyring() async throws {
        try await TemporaryDirectory.with { home in
            let wrapped = try await Keyring.with(password: "right", home: home) { try await $0.value("wrap", dataKey, context) }
            try await Keyring.with(password: "", home: home) { keyring in
                let before = try contents(keyring)
                try await expectLocked(keyring, wrapped: wrapped)
                #expect(try contents(keyring) == before)
            }
        }
    }

    @Test("A keyring locked while it runs is reported as locked, and nothing is created in it")
    func reportsKeyringLockedLater() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            _ = try await keyring.value("remember", "vault", "5")
            let before = try contents(keyring)
            try await keyring.lock()
            try await expectLocked(keyring, wrapped: wrapped)
            #expect(try contents(keyring) == before)
        }
    }

    @Test("A locked keyring whose unlock prompt is dismissed is unavailable, and nothing is created in it")
    func reportsDismissedUnlock() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            let before = try contents(keyring)
            try await keyring.lock()
            for arguments in [["unwrap", wrapped, context], ["wrap", dataKey, context]] {
                // No window can be opened here, which the daemon treats like a user who closes it.
                let answer = try await SecretServiceProbe.run(["10000", "5000"] + arguments, environment: keyring.environment)
                #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("dismissed"), "\(answer)")
            }
            #expect(try await keyring.probe("availability", unlock: 5000) == "ok usable")
            #expect(try contents(keyring) == before)
        }
    }

    @Test("The keyring without a session bus is unavailable, and no bus is started", arguments: [true, false])
    func reportsMissingBus(isNamed: Bool) async throws {
        try await TemporaryDirectory.with { directory in
            var environment = ["HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "DISPLAY": ":99"]
            if isNamed { environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(directory.file("nobody"))" }
            for command in [["wrap", dataKey, context], ["epoch", "vault"], ["owner"]] {
                let answer = try await SecretServiceProbe.run(["10000", "-"] + command, environment: environment)
                #expect(answer.hasPrefix("error keyUnavailable"), "\(answer)")
                #expect(isNamed || answer.contains("no session bus"), "\(answer)")
            }
            let availability = try await SecretServiceProbe.run(["10000", "-", "availability"], environment: environment)
            #expect(availability.hasPrefix("ok unusable"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        }
    }

    @Test("The keyring without a daemon is unavailable, and has no owner")
    func reportsMissingDaemon() async throws {
        try await Keyring.with(password: nil) { keyring in
            let answer = try await keyring.probe("wrap", dataKey, context)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("no program serves"), "\(answer)")
            try await keyring.expect("owner", gives: "nobody")
            #expect(try await keyring.value("availability").hasPrefix("unusable no program serves"))
        }
    }

    @Test("The keyring reports its daemon's process and that it is usable")
    func reportsKeyringOwner() async throws {
        try await Keyring.with(password: "right") { keyring in
            let daemon = try #require(keyring.processID(of: .daemon))
            try await keyring.expect("owner", gives: "\(daemon) gnome-keyring-daemon")
            try await keyring.expect("availability", gives: "usable")
        }
    }

    @Test("The keyring is unavailable once its daemon has ended")
    func reportsEndedDaemon() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            keyring.signal(SIGKILL, to: .daemon)
            let hasEnded = try await eventually { try await keyring.value("owner") == "nobody" }
            #expect(hasEnded)
            let answer = try await keyring.probe("unwrap", wrapped, context)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("no program serves"), "\(answer)")
        }
    }

    @Test("A keyring whose daemon or bus hangs is unavailable after the timeout", arguments: [Keyring.Part.daemon, .bus])
    func timesOutHangingKeyring(part: Keyring.Part) async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            keyring.signal(SIGSTOP, to: part)
            for command in [
                ["unwrap", wrapped, context], ["wrap", dataKey, context], ["remember", "vault", "9"], ["epoch", "vault"],
            ] {
                // GLib's own timeout would take 25 seconds; a process that takes 15 is killed, without an answer.
                let answer = try await SecretServiceProbe.run(
                    ["300", "-"] + command, environment: keyring.environment, within: .seconds(15))
                #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("did not answer"), "\(answer)")
            }
            keyring.signal(SIGCONT, to: part)
            try await keyring.expect("unwrap", wrapped, context, gives: dataKey)
            try await keyring.expect("epoch", "vault", gives: "none")
            #expect(try await keyring.items().count == 1)
        }
    }

    @Test("A bus that ends in the middle of a call does not end the process")
    func survivesEndedBus() async throws {
        try await Keyring.with(password: "right") { keyring in
            keyring.signal(SIGSTOP, to: .daemon)
            let before = try await keyring.connections()
            async let answer = keyring.probe("wrap", dataKey, context)
            let isConnected = try await eventually { try await keyring.connections() != before }
            #expect(isConnected)
            keyring.signal(SIGKILL, to: .bus)
            let output = try await answer
            #expect(output.hasPrefix("error keyUnavailable"), "\(output)")
        }
    }

    @Test("The keyring times out when the bus accepts the connection and never answers")
    func timesOutSilentBus() async throws {
        try await TemporaryDirectory.with { directory in
            let bus = try SilentBus(path: directory.file("bus"))
            let answer = try await SecretServiceProbe.run(
                ["300", "-", "wrap", dataKey, context],
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(bus.path)"], within: .seconds(15))
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("did not answer"), "\(answer)")
        }
    }

    @Test("A keyring without a lasting default collection stores no key", arguments: [true, false])
    func requiresLastingCollection(isThere: Bool) async throws {
        try await Keyring.with(password: isThere ? "right" : "") { keyring in
            if isThere { try await keyring.makeSessionCollectionDefault() }
            for command in [["wrap", dataKey, context], ["remember", "vault", "1"], ["epoch", "vault"]] {
                let answer = try await SecretServiceProbe.run(["10000", "-"] + command, environment: keyring.environment)
                #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("default collection"), "\(answer)")
            }
            let availability = try await keyring.value("availability")
            #expect(availability.hasPrefix("unusable") && availability.contains("default collection"))
            if isThere { #expect(try await keyring.items() == []) }
        }
    }

    @Test("The keyring without the vault's key is unavailable, and no other key is created")
    func reportsDeletedKeyringItem() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            for item in try await keyring.items() { try await keyring.delete(item) }
            let answer = try await keyring.probe("unwrap", wrapped, context)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("does not hold"), "\(answer)")
            #expect(try await keyring.items() == [])
        }
    }

    @Test("A key deleted during repeated calls leaves only two outcomes, opened or unavailable")
    func reportsItemDeletedMeanwhile() async throws {
        try await Keyring.with(password: "right") { keyring in
            let wrapped = try await keyring.value("wrap", dataKey, context)
            let probe = try TestProcess(
                Programs.built("SecretServiceProbe"), ["10000", "-", "retry-unwrap", wrapped, context, "20"],
                environment: keyring.environment)
            // The first line follows the first call that opens. The calls go on until twenty of them have failed.
            try await probe.waitForOutput { output, _ in output.hasPrefix("opened\n") }
            for item in try await keyring.items() { try await keyring.delete(item) }
            let ended = await probe.end()
            #expect(ended.status == 0 && ended.errors == "", "\(ended.errors)")
            #expect(ended.line.wholeMatch(of: /opened\nok keyUnavailable=20 opened=\d+/) != nil, "\(ended.output)")
        }
    }

    private func expectLocked(_ keyring: Keyring, wrapped: String) async throws {
        for command in [
            ["unwrap", wrapped, context], ["wrap", dataKey, context], ["epoch", "vault"], ["epoch", "another"],
            ["remember", "vault", "6"], ["remember", "another", "1"],
        ] {
            let answer = try await SecretServiceProbe.run(["10000", "-"] + command, environment: keyring.environment)
            #expect(answer.hasPrefix("error keyUnavailable") && answer.contains("locked"), "\(command): \(answer)")
        }
        #expect(try await keyring.value("availability").hasPrefix("unusable the keyring is locked"))
    }

    /// The keyring's files on disk.
    private func contents(_ keyring: Keyring) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: keyring.files)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(keyring.files)/\($0)"))) })
    }
}

@Suite("Epochs in the desktop's keyring", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct KeyringEpochTests {
    @Test("A keyring epoch is absent at first, only increases, and is one item for each vault")
    func keyringEpochOnlyIncreases() async throws {
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

    @Test("A keyring epoch stays the highest when four processes store theirs at the same time")
    func keyringEpochSurvivesRace() async throws {
        try await Keyring.with(password: "right") { keyring in
            try await withThrowingTaskGroup(of: String.self) { group in
                for first in 1...4 {
                    group.addTask { try await keyring.probe("store-epochs", "vault", "\(first)", "4", "60", timeout: 30_000) }
                }
                for try await answer in group { #expect(answer.hasPrefix("ok stored"), "\(answer)") }
            }
            try await keyring.expect("epoch", "vault", gives: "60")
            #expect(try await keyring.items().count == 1)
        }
    }

    @Test("Eight data keys wrapped at the same time each open again from the keyring")
    func keyringKeysSurviveRace() async throws {
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

@Suite("The libsecret library")
struct LibSecretTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    private static let hasHeaders: Bool = {
        let paths = ["/usr/lib", "/usr/share"] + ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu" }
        return paths.contains { FileManager.default.fileExists(atPath: "\($0)/pkgconfig/libsecret-1.pc") }
    }()

    @Test(
        "The headers of libsecret have the prototypes that Signet repeats",
        .enabled(if: hasHeaders, "libsecret-1-dev is not installed"))
    func libsecretPrototypesMatch() async throws {
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
        "A program without libsecret runs, and its keyring reports the missing library",
        .enabled(if: geteuid() == 0 && !missing.contains("sh"), "it takes root to hide a library"))
    func reportsMissingLibsecret() async throws {
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

    @Test("A call that conflicts with another program's change is repeated once, and no other call is")
    func repeatsConflictingCallOnce() {
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
