import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("A systemd credential")
struct CredentialTests {
    private let dataKey = Secret.random(byteCount: 32)
    private let context = Array("a vault".utf8)
    private let name = SystemdCredentialProtector.defaultCredential

    /// Makes a directory as systemd does for a service of this user, with one credential in it.
    private func withCredential(
        _ content: [UInt8]? = Array(repeating: 9, count: 32), _ body: (String, SystemdCredentialProtector) throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { directory in
            if let content { try write(content, to: directory.file(name)) }
            try #require(chmod(directory.path, 0o500) == 0)
            defer { chmod(directory.path, 0o700) }
            try body(directory.path, SystemdCredentialProtector(environment: ["CREDENTIALS_DIRECTORY": directory.path]))
        }
    }

    private func write(_ content: [UInt8], to path: String, mode: mode_t = 0o400) throws {
        try Data(content).write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
    }

    @Test("A systemd credential opens the data key it sealed, and reports itself as usable", arguments: [32, 33, 4096])
    func credentialOpensSealedKey(length: Int) async throws {
        try await withCredential((0..<length).map { UInt8(truncatingIfNeeded: $0) }) { _, protector in
            #expect(protector.availability() == .usable)
            let wrapped = try protector.wrap(dataKey, context: context)
            #expect(wrapped.count == 61 && wrapped[0] == 1)
            #expect(try protector.unwrap(wrapped, context: context) == dataKey)
            let refusal = code { try protector.unwrap(wrapped, context: context + [0]) }
            #expect(refusal == .keyMismatch)
        }
    }

    @Test("A systemd credential derives the documented wrapping")
    func credentialMatchesLayout() async throws {
        // Computed with Python: cryptography's HKDF and AESGCM, from docs/reference/key-protector-formats.md alone.
        try await withCredential((0..<40).map { UInt8($0) }) { _, protector in
            let opened = try protector.unwrap(try Base64.decode(Self.knownWrapping), context: Array("context".utf8))
            #expect(opened == Secret(UInt8(0)..<32))
        }
    }

    @Test("Another credential does not open the data key")
    func anotherCredentialDoesNotOpen() async throws {
        try await withCredential { path, protector in
            let wrapped = try protector.wrap(dataKey, context: context)
            chmod(path, 0o700)
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
            try write(Array(repeating: 8, count: 32), to: "\(path)/\(name)")
            let refusal = code { try protector.unwrap(wrapped, context: context) }
            #expect(refusal == .keyMismatch)
        }
    }

    @Test(
        "A credential that is too short or too long for a key is refused",
        arguments: [(0, .keyMismatch), (31, .keyMismatch), (4097, .corrupt)] as [(Int, StoreError.Code)])
    func refusesCredentialLength(count: Int, expected: StoreError.Code) async throws {
        try await withCredential(Array(repeating: 7, count: count)) { _, protector in
            let refusal = code { try protector.wrap(dataKey, context: context) }
            #expect(refusal == expected)
            #expect(protector.availability() != .usable)
        }
    }

    @Test(
        "Without a credentials directory the protector is unavailable and says how to set one",
        arguments: [nil, "", "relative", "/nowhere/at/all"])
    func reportsMissingCredentialDirectory(directory: String?) throws {
        let protector = SystemdCredentialProtector(environment: directory.map { ["CREDENTIALS_DIRECTORY": $0] } ?? [:])
        #expect { try protector.wrap(dataKey, context: context) } throws: { error in
            (error as? StoreError)?.code == .keyUnavailable && "\(error)".contains("LoadCredentialEncrypted=\(name)")
        }
        guard case .unusable(let reason) = protector.availability() else { return #expect(Bool(false), "usable") }
        #expect(reason.contains("LoadCredentialEncrypted"))
    }

    @Test("A credentials directory without the credential makes the protector unavailable")
    func reportsMissingCredential() async throws {
        try await withCredential(nil) { _, protector in
            let refusal = code { try protector.wrap(dataKey, context: context) }
            #expect(refusal == .keyUnavailable)
        }
    }

    @Test(
        "A credential name that leaves its directory is refused",
        arguments: ["", ".", "..", "../signet-vault-key", "/etc/passwd", "a/b", "a\0b"])
    func refusesCredentialPathTraversal(name: String) async throws {
        try await withCredential { path, _ in
            let protector = SystemdCredentialProtector(name, environment: ["CREDENTIALS_DIRECTORY": path])
            let refusal = code { try protector.wrap(dataKey, context: context) }
            #expect(refusal == .keyUnavailable)
        }
    }

    @Test(
        "A credential file that other users can access is refused",
        arguments: [0o444, 0o440, 0o420, 0o604, 0o602, 0o410] as [mode_t])
    func refusesExposedCredential(mode: mode_t) async throws {
        try await withCredential { path, protector in
            try #require(chmod("\(path)/\(name)", mode) == 0)
            let refusal = code { try protector.wrap(dataKey, context: context) }
            #expect(refusal == .insecurePermissions)
        }
    }

    @Test(
        "A credential in a directory that other users can access is refused", arguments: [0o755, 0o750, 0o501, 0o720] as [mode_t])
    func refusesExposedCredentialDirectory(mode: mode_t) async throws {
        try await withCredential { path, protector in
            try #require(chmod(path, mode) == 0)
            let refusal = code { try protector.wrap(dataKey, context: context) }
            #expect(refusal == .insecurePermissions)
        }
    }

    @Test("A credential that is a link, a FIFO, a directory or has a second name is refused")
    func refusesIrregularCredential() async throws {
        try await TemporaryDirectory.with { directory in
            let target = directory.file("target")
            try write(Array(repeating: 9, count: 32), to: target)
            let tricks: [(String, (String) -> Int32)] = [
                ("link", { symlink(target, $0) }), ("fifo", { mkfifo($0, 0o400) }), ("folder", { mkdir($0, 0o700) }),
                ("second", { link(target, $0) }),
            ]
            for (name, make) in tricks {
                try #require(make(directory.file(name)) == 0)
                let protector = SystemdCredentialProtector(name, environment: ["CREDENTIALS_DIRECTORY": directory.path])
                let refusal = code { try protector.wrap(dataKey, context: context) }
                #expect(refusal == .insecurePermissions, "\(name)")
            }
            let linked = directory.file("linked")
            try #require(symlink(directory.path, linked) == 0)
            let protector = SystemdCredentialProtector("target", environment: ["CREDENTIALS_DIRECTORY": linked])
            let refusal = code { try protector.wrap(dataKey, context: context) }
            #expect(refusal == .insecurePermissions)
        }
    }

    @Test("A credential's wrapping with any bit changed or another length is refused")
    func refusesTamperedCredentialWrapping() async throws {
        try await withCredential { _, protector in try expectTamperProof(protector, dataKey: dataKey) }
    }

    private static let knownWrapping =
        "AWRlZmdoaWprbG1ub_VCSEhTolEshP-rn5oFi1Sue4Br2wBn1bImrybXyMMiRXVWSA4Jx7GUVXacvOfeRg"
}

@Suite("A systemd credential that root gives to a service's user", .enabled(if: geteuid() == 0, "it takes root to act it"))
struct CredentialOwnerTests {
    /// The user `nobody` in Debian and most other distributions.
    private let user: UInt32 = 65534

    @Test(
        "A credential owned by root is accepted; one owned by a third user or readable by others is refused",
        arguments: [
            (0, 0o440, 0o550, "ok opened"), (65534, 0o400, 0o500, "ok opened"), (12345, 0o440, 0o550, "error"),
            (0, 0o444, 0o550, "error insecurePermissions"), (0, 0o440, 0o555, "error insecurePermissions"),
            (0, 0o460, 0o550, "error insecurePermissions"), (0, 0o440, 0o570, "error insecurePermissions"),
            (0, 0o400, 0o500, "error denied"),
        ] as [(UInt32, mode_t, mode_t, String)])
    func checksCredentialOwner(owner: UInt32, mode: mode_t, directoryMode: mode_t, expected: String) async throws {
        try await TemporaryDirectory.with { directory in
            let folder = directory.file("credentials")
            let file = "\(folder)/\(SystemdCredentialProtector.defaultCredential)"
            try #require(mkdir(folder, 0o700) == 0)
            try Data(repeating: 9, count: 32).write(to: URL(filePath: file))
            for (path, mode) in [(file, mode), (folder, directoryMode), (directory.path, 0o755)] {
                // The user's group replaces the access control list with which systemd lets the user read.
                try #require(chown(path, path == directory.path ? 0 : owner, user) == 0 && chmod(path, mode) == 0)
            }
            let answer = try await SecretServiceProbe.run(
                ["0", "-", "credential", folder], environment: [:],
                through: ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"])
            #expect(answer.hasPrefix(expected))
        }
    }
}
