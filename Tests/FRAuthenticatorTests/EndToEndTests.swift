import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

@testable import FRAuthenticator

/// Storage clients as an app would write them from the document, from enrolment to the next start of the app.
@Suite("A storage client written from the document")
struct EndToEndTests {
    enum Kind: String, CaseIterable, Sendable {
        case sqlite, jsonFiles

        func client(in directory: TemporaryDirectory) throws -> sending any StorageClient {
            switch self {
            case .sqlite: try SQLiteStorageClient(path: directory.file("app.sqlite"))
            case .jsonFiles: try JSONFileStorageClient(path: directory.file("app"))
            }
        }
    }

    @Test("works from enrolment to the next start", arguments: Kind.allCases)
    func wholeLife(kind: Kind) async throws {
        try await TemporaryDirectory.with { directory in
            let clock = ManualClock(Sample.start)
            let sensor = Sensor()
            try await live(try Bench(kind.client(in: directory), clock: clock, presence: sensor))
            // The next start of the app: what was there is there.
            let bench = try Bench(kind.client(in: directory), clock: clock, presence: sensor)
            let (account, totp, push) = try bench.whole()
            #expect(account.displayIssuer == "Harbour")
            #expect(account.timeAdded == Sample.start)
            #expect(account.mechanisms.count == 3)
            #expect(push.notifications.map(\.isApproved) == [true, false, true, true])
            #expect(push.notifications.map(\.isDenied) == [false, true, false, false])
            #expect(try totp.generateCode().code == "867205")
            let hotp = try #require(account.mechanisms.compactMap { $0 as? HOTPMechanism }.first)
            #expect(try hotp.generateCode().code == "802135")
            #expect(throws: Never.self) { try bench.receive("1") }
            #expect(bench.client.getAllNotifications().count == 4)

            #expect(bench.client.removeNotification(notification: push.notifications[0]))
            #expect(bench.client.getAllNotifications().count == 3)
            #expect(bench.client.removeMechanism(mechanism: push))
            #expect(bench.client.getAllNotifications().isEmpty)
            #expect(bench.client.getAllAccounts()[0].mechanisms.count == 2)
            #expect(bench.client.removeAccount(account: account))
            let left = try kind.client(in: directory)
            #expect(left.isEmpty())
        }
    }

    private func live(_ bench: Bench) async throws {
        try await bench.enrollBoth()
        _ = try await bench.client.createMechanismFromUri(Sample.hotp)
        let (account, totp, _) = try bench.whole()
        #expect(try totp.generateCode().code == "867205")
        let hotp = try #require(account.mechanisms.compactMap { $0 as? HOTPMechanism }.first)
        #expect(try hotp.generateCode().code == "099169")
        account.displayIssuer = "Harbour"
        #expect(try bench.client.updateAccount(account: account))

        try await bench.receive("1").accept()
        bench.clock.advance(by: 1)
        try await bench.receive("2").deny()
        bench.clock.advance(by: 1)
        try await bench.receive("3", kind: .number(choices: [34, 56, 82])).accept(challengeResponse: "56")
        bench.clock.advance(by: 1)
        try await bench.receive("4", kind: .biometric).accept(title: "Harbor Bank", allowDeviceCredentials: false)
        bench.clock.advance(by: -3)
    }

    @Test("enrols with a real server, and its person gets in with a push", arguments: Kind.allCases)
    func loopback(kind: Kind) async throws {
        try await LiveDesk.with { desk in
            try await TemporaryDirectory.with { directory in
                let settings = Bench.settings(desk.transport, ManualClock(Sample.start))
                var real = settings
                real.clock = SystemWallClock()
                let client = try FRAClientBuilder(real).withStorage(kind.client(in: directory)).start()
                try client.registerForRemoteNotifications("token-1")
                let push = try #require(
                    try await desk.enrol("CombinedRegistration") { try await client.createMechanismFromUri($0) } as? PushMechanism
                )
                #expect(client.getAllAccounts().first?.mechanisms.map(\.type) == ["push", "totp"])

                let waiting = try await desk.begin("PushNumberLogin")
                try await desk.nextMessage(for: push.core, client.engine.authenticator)
                let notification = try #require(client.getAllNotifications().first)
                #expect(notification.pushType == .challenge)
                let number = try #require(waiting.number)
                try await notification.accept(challengeResponse: number)
                #expect(try await desk.finish(waiting.step) == nil)
                #expect(client.getAllNotifications().first?.isApproved == true)
            }
        }
    }

    @Test("is not needed: the default store keeps everything, too, in transactions")
    func records() async throws {
        let records = AccountRecords(unsealed: MemoryStore())
        func client() -> FRAClient {
            FRAClient(
                LegacyEngine(
                    backing: .records(records), policies: PolicyBox(FRAPolicyEvaluator()), presence: nil,
                    settings: Bench.settings(ScriptedTransport(Bench.accept), ManualClock(Sample.start))))
        }
        let first = client()
        try first.registerForRemoteNotifications("token-1")
        let push = try #require(try await first.createMechanismFromUri(Sample.combined) as? PushMechanism)
        let hotp = try #require(try await first.createMechanismFromUri(Sample.hotp) as? HOTPMechanism)
        #expect(try hotp.generateCode().code == "099169")
        // An object that is out of date makes no code twice here either.
        let second = client()
        let other = try #require(second.getMechanismByUUID(hotp.mechanismUUID) as? HOTPMechanism)
        #expect(try other.generateCode().code == "802135")
        #expect(try hotp.generateCode().code != "802135")
        let notification = try second.handleMessage("1", try Sample.message(to: push.mechanismUUID))
        try await notification.accept()
        #expect(first.getAllNotifications().first?.isApproved == true)
        #expect(first.getAccount(identifier: Sample.identifier)?.mechanisms.count == 3)
        let account = try #require(first.getAllAccounts().first)
        #expect(first.removeAccount(account: account))
        #expect(second.getAllAccounts().isEmpty)
        #expect(second.getAllNotifications().isEmpty)
    }
}
