import Foundation
import PingOath
import PingPush
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// The clients over a store, and over a storage of an app's own, that fail.
@Suite("Clients over storages that fail", .timeLimit(.minutes(5)))
struct ClientFaultTests {
    static let operations = StoreCall.Operation.allCases

    @Test("whatever fails, codes are never repeated, and what was stored is there", arguments: operations, 1...6)
    func oath(operation: StoreCall.Operation, number: Int) async throws {
        let faulty = FaultyStore(MemoryStore())
        let client = try await OathClient.createClient { $0.storage = AccountRecords(unsealed: faulty) }
        let credential = try await client.addCredentialFromUri(Sample.hotp)
        var codes: [String] = []
        for isDurable in [false, true] {
            faulty.heal()
            faulty.inject(StoreFault(.failed, at: operation, .call(number), isDurable: isDurable))
            var renamed = credential
            renamed.displayIssuer = "Another"
            let calls: [() async throws -> Void] = [
                { codes.append(try await client.generateCode(credential.id)) },
                { try await client.saveCredential(renamed) }, { try await client.addCredentialFromUri(Sample.totp) },
                { codes.append(try await client.generateCode(credential.id)) }, { _ = try await client.getCredentials() },
                { _ = try await client.getCredential(credential.id) },
            ]
            for call in calls {
                do {
                    try await call()
                } catch let error as OathStorageError {
                    guard case .storageFailure = error else { throw error }
                } catch OathError.duplicateCredential {
                    // It was stored before.
                }
            }
            faulty.heal()
            codes.append(try await client.generateCode(credential.id))
            let stored = try #require(try await client.getCredential(credential.id))
            #expect(stored.counter >= 7 + codes.count)
            #expect(["Harbor Bank", "Another"].contains(stored.displayIssuer))
        }
        #expect(Set(codes).count == codes.count)
    }

    @Test("whatever fails, push keeps what it had and goes on when the store does", arguments: operations, 1...6)
    func push(operation: StoreCall.Operation, number: Int) async throws {
        let faulty = FaultyStore(MemoryStore())
        let bench = try await PushBench { $0.storage = AccountRecords(unsealed: faulty) }
        let credential = try await bench.enroll()
        let client = bench.client
        let first = try #require(
            try await client.processNotification(messageData: PushBench.message(to: credential.id, messageId: "1")))
        faulty.heal()
        faulty.inject(StoreFault(.failed, at: operation, .call(number)))
        let calls: [() async throws -> Void] = [
            { _ = try await client.processNotification(messageData: PushBench.message(to: credential.id, messageId: "2")) },
            { try await client.approveNotification(first.id) }, { try await client.setDeviceToken("token-2") },
            { try await client.cleanupNotifications() }, { _ = try await client.getAllNotifications() },
        ]
        for call in calls {
            do {
                try await call()
            } catch PushError.storageFailure {
                // As it should be.
            }
        }
        faulty.heal()
        #expect(try await client.getCredentials().map(\.id) == [credential.id])
        _ = try await client.processNotification(messageData: PushBench.message(to: credential.id, messageId: "2"))
        _ = try await client.approveNotification(first.id)
        #expect(try await client.getNotification(notificationId: first.id)?.approved == true)
        #expect(try await client.setDeviceToken("token-2"))
        #expect(try await client.getAllNotifications().count == 2)
        #expect(try await client.deleteCredential(credentialId: credential.id))
        #expect(try await client.getAllNotifications().isEmpty)
    }

    @Test("what a store says has one of the documented names, and the reason with it", arguments: StoreError.Code.allCases)
    func names(code: StoreError.Code) async throws {
        let faulty = FaultyStore(MemoryStore())
        let oath = try await OathClient.createClient { $0.storage = AccountRecords(unsealed: faulty) }
        let push = try await PushClient.createClient { $0.storage = AccountRecords(unsealed: faulty) }
        faulty.inject(StoreFault(code, at: .begin))
        let thrown = await #expect(throws: OathStorageError.self) { try await oath.getCredentials() }
        let fault = try #require(thrown)
        switch fault {
        case .storageCorrupted: #expect([.corrupt, .newerFormat, .keyMismatch, .rolledBack, .typeMismatch].contains(code))
        case .accessDenied: #expect([.denied, .insecurePermissions].contains(code))
        case .storageFailure(_, let cause): #expect(cause?.code == code)
        case .duplicateCredential: Issue.record("a failure is no duplicate")
        }
        await #expect {
            try await push.getCredentials()
        } throws: {
            if case PushError.storageFailure(let text, let cause?) = $0 {
                cause.code == code && text == "\(cause)"
            } else {
                false
            }
        }
    }

    @Test("a storage of the app's own that throws is an error, and nothing is lost")
    func ownStorage() async throws {
        let cell = ItemCell()
        let client = try await OathClient.createClient { $0.storage = CellStorage(cell) }
        let credential = try await client.addCredentialFromUri(Sample.hotp)
        let before = cell.bytes
        cell.setBroken(true)
        for call: () async throws -> Void in [
            { _ = try await client.generateCode(credential.id) }, { _ = try await client.getCredentials() },
            { try await client.deleteCredential(credential.id) },
        ] {
            await #expect {
                try await call()
            } throws: {
                if case OathStorageError.storageFailure(let text, _) = $0 { text.contains("Refused") } else { false }
            }
        }
        cell.setBroken(false)
        #expect(cell.bytes == before)
        #expect(try await client.generateCode(credential.id) == "099169")
    }

    @Test(
        "an item that is damaged is an error, and is left as it is",
        arguments: [#"{"records":""}"#, #"{"records":"AAAA"}"#, #"{"records":"U0dCAQAAAAE="}"#, #"{"records":"U0dCCQAAAAA="}"#])
    func damaged(item: String) async throws {
        let cell = ItemCell()
        cell.overwrite(Data(item.utf8))
        let client = try await OathClient.createClient { $0.storage = CellStorage(cell) }
        for call: () async throws -> Void in [
            { _ = try await client.getCredentials() }, { try await client.addCredentialFromUri(Sample.totp) },
        ] {
            await #expect {
                try await call()
            } throws: {
                if case OathStorageError.storageCorrupted = $0 { true } else { false }
            }
        }
        #expect(cell.bytes == Data(item.utf8) && cell.saves == 0)
    }

    @Test("what another client has stored in the same item is not overwritten: the call fails, and is made again")
    func twoClients() async throws {
        let cell = ItemCell()
        let (bench, oath) = (
            try await PushBench { $0.storage = CellStorage(cell) },
            try await OathClient.createClient { $0.storage = CellStorage(cell) }
        )
        // How often the item is read until it is stored: last to find out whether it is still the one that was changed.
        let rehearsal = ItemCell()
        let other = try await OathClient.createClient { $0.storage = CellStorage(rehearsal) }
        let readBefore = rehearsal.gets
        try await other.addCredentialFromUri(Sample.totp)
        let reads = rehearsal.gets - readBefore

        cell.answering.close()
        let enrolling = Task { try await oath.addCredentialFromUri(Sample.totp) }
        for _ in 0..<reads - 2 { await cell.answering.letOne() }
        while cell.answering.waiting == 0 { await Task.yield() }
        // It has read what it is going to change, and does not know yet; meanwhile another client stores something.
        cell.answering.openForNew()
        try await bench.client.setDeviceToken("token-1")
        cell.answering.open()
        await #expect { try await enrolling.value } throws: { error in
            guard case .storageFailure(_, let cause) = error as? OathStorageError else { return false }
            return cause?.code == .busy
        }
        #expect(try await oath.getCredentials().isEmpty)
        try await oath.addCredentialFromUri(Sample.totp)
        #expect(try await bench.client.getDeviceToken() == "token-1")
        #expect(try await oath.getCredentials().count == 1)
    }

    @Test("reading stores nothing, and what is stored cannot be seen in a description")
    func quiet() async throws {
        let cell = ItemCell()
        let client = try await OathClient.createClient { $0.storage = CellStorage(cell) }
        #expect(try await client.getCredentials().isEmpty)
        let credential = try await client.addCredentialFromUri(Sample.totp)
        _ = try await client.generateCode(credential.id)
        _ = try await client.getCredentials()
        #expect(cell.saves == 1)
        let item = try JSONDecoder().decode(StoredAccounts.self, from: #require(cell.bytes))
        var dumped = ""
        dump(item, to: &dumped)
        #expect("\(item)" == String(reflecting: item) && dumped.count < 80)
    }
}
