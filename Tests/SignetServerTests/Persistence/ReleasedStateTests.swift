import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// States of a server that released versions of `signet serve` wrote (`scripts/freeze-formats`).
@Suite("The state of a released version", .timeLimit(.minutes(5)))
struct ReleasedStateTests {
    /// The releases with a folder in `Fixtures`.
    ///
    /// The folder `v1` is named by the format of its rows instead.
    static let versions = ReleasedVersion.all(in: "SignetServerTests")

    /// The user that a state has, and the user's tokens.
    struct Known: Decodable {
        let user: String
        let password: String
        let session: String
        let access: String
        let refresh: String
        /// The time at which the state was written, in seconds since 1970.
        let madeAt: Double
    }

    /// A copy of a state.
    struct Copy {
        let directory: String
        let known: Known

        var path: String { "\(directory)/server.sqlite" }

        /// Copies the files with the modes that a server requires.
        init(of version: String, to directory: String) throws {
            self.directory = directory
            let folder = ReleasedVersion.folder(version, in: "SignetServerTests")
            known = try JSONDecoder().decode(Known.self, from: Data(contentsOf: folder.appending(path: "known.json")))
            try FrozenFiles.copy(["server.sqlite", "server.sqlite.key"], from: folder, to: directory)
        }

        func files() throws -> [String: Data] {
            var files: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                files[name] = try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))
            }
            return files
        }
    }

    @Test("The state of the first release is frozen")
    func firstStateIsFrozen() {
        #expect(Self.versions.contains("0.1.0"))
    }

    @Test("A server continues with the session, tokens, push device and message of a released state", arguments: versions)
    func continuesReleasedState(version: String) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let copy = try Copy(of: version, to: directory.file("state"))
        let known = copy.known
        let configuration = ServerConfiguration.sample {
            $0.signingKey = nil
            $0.users.append(User(name: known.user, password: Secret(known.password.utf8)))
            $0.state = .file(copy.path)
        }
        let clock = ManualClock(Date(timeIntervalSince1970: known.madeAt))
        try await TestServer.run(configuration, clock: clock) { server in
            let isValid = try await server.isValid(known.session)
            #expect(isValid)
            let claims = try await server.userInfo(known.access).json
            #expect(claims["sub"]?.string == known.user)
            let refreshed = try Tokens(try await server.refresh(known.refresh))
            let idToken = try await server.claims(try #require(refreshed.id))
            #expect(idToken["sub"]?.string == known.user)
            let isLoggedIn = try await server.logIn("Login", name: known.user, password: known.password).isLoggedIn
            #expect(isLoggedIn)
            let user = UserKey(realm: .root, name: known.user)
            let device = try await server.devServer.context.store.read { tx in try tx.devices.pushDevice(of: user) }
            let uid = try #require(device?.mechanismUID)
            let messages = try await server.inbox(uid)
            #expect(messages.count == 1)
            let unreadable = try await server.devServer.context.store.queue.unreadableRows.entries
            #expect(unreadable.isEmpty)
        }
    }

    @Test("A state of a newer version is refused, and no byte of its directory changes", arguments: versions)
    func refusesNewerState(version: String) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let copy = try Copy(of: version, to: directory.file("state"))
        // PRAGMA user_version: four bytes at offset 60 of the file, most significant first (SQLite's file format, section 1.3).
        var bytes = try Data(contentsOf: URL(filePath: copy.path))
        #expect(Array(bytes[60..<63]) == [0, 0, 0])
        bytes[63] = UInt8(Schema.version + 1)
        try bytes.write(to: URL(filePath: copy.path))
        let before = try copy.files()
        let error = #expect(throws: StoreError.self) { _ = try SignetServer.StateLocation.open(.file(copy.path)) }
        #expect(error?.code == .newerFormat)
        let after = try copy.files()
        #expect(after == before)
    }
}
