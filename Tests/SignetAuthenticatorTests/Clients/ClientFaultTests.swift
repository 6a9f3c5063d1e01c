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

/// The clients over a failing store and over a failing storage written by the app.
@Suite("Clients over failing storages", .timeLimit(.minutes(5)))
struct ClientFaultTests {
    static let operations = StoreCall.Operation.allCases

    @Test(
        "The OATH client never repeats a code and keeps stored credentials when a store call fails", arguments: operations, 1...6)
    func oathClientSurvivesStoreFault(operation: StoreCall.Operation, number: Int) async throws {
        let faulty = FaultyStore(MemoryStore())
        let client = try await OathClient.createClient { $0.storage = AccountRecords(unsealed: faulty) }
        let credential = try await client.addCredentialFromUri(Sample.hotp)
        var codes: [String] = []
        for isDurable in [false, true] {
            faulty.reset()
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
                    // The credential was stored before.
                }
            }
            faulty.reset()
            codes.append(try await client.generateCode(credential.id))
            let stored = try #require(try await client.getCredential(credential.id))
            #expect(stored.counter >= 7 + codes.count)
            #expect(["Harbor Bank", "Another"].contains(stored.displayIssuer))
        }
        #expect(Set(codes).count == codes.count)
    }

    @Test(
        "The push client keeps its data when a store call fails and works again when the store does",
        arguments: operations, 1...6)
    func pushClientSurvivesStoreFault(operation: StoreCall.Operation, number: Int) async throws {
        let faulty = FaultyStore(MemoryStore())
        let fixture = try await PushClientFixture { $0.storage = AccountRecords(unsealed: faulty) }
        let credential = try await fixture.enroll()
        let client = fixture.client
        let first = try #require(
            try await client.processNotification(messageData: PushClientFixture.message(to: credential.id, messageId: "1")))
        faulty.reset()
        faulty.inject(StoreFault(.failed, at: operation, .call(number)))
        let calls: [() async throws -> Void] = [
            {
                _ = try await client.processNotification(
                    messageData: PushClientFixture.message(to: credential.id, messageId: "2"))
            },
            { try await client.approveNotification(first.id) }, { try await client.setDeviceToken("token-2") },
            { try await client.cleanupNotifications() }, { _ = try await client.getAllNotifications() },
        ]
        for call in calls {
            do {
                try await call()
            } catch PushError.storageFailure {
                // The expected error.
            }
        }
        faulty.reset()
        #expect(try await client.getCredentials().map(\.id) == [credential.id])
        _ = try await client.processNotification(messageData: PushClientFixture.message(to: credential.id, messageId: "2"))
        _ = try await client.approveNotification(first.id)
        #expect(try await client.getNotification(notificationId: first.id)?.approved == true)
        #expect(try await client.setDeviceToken("token-2"))
        #expect(try await client.getAllNotifications().count == 2)
        #expect(try await client.deleteCredential(credentialId: credential.id))
        #expect(try await client.getAllNotifications().isEmpty)
    }

    @Test("Each store error is reported as a documented client error with its cause", arguments: StoreError.Code.allCases)
    func mapsStoreErrors(code: StoreError.Code) async throws {
        let faulty = FaultyStore(MemoryStore())
        let oath = try await OathClient.createClient { $0.storage = AccountRecords(unsealed: faulty) }
        let push = try await PushClient.createClient { $0.storage = AccountRecords(unsealed: faulty) }
        faulty.inject(StoreFault(code, at: .begin))
        let thrown = await #expect(throws: OathStorageError.self) { try await oath.getCredentials() }
        let fault = try #require(thrown)
        switch fault {
        case .storageCorrupted: #expect([.corrupt, .newerFormat, .keyMismatch, .rolledBack, .typeMismatch].contains(code))
        case .accessDenied: #expect([.denied, .insecurePermissions].contains(code))
        case .storageFailure(_, let cause): #expect((cause as? StoreError)?.code == code)
        case .duplicateCredential: Issue.record("a store error was reported as a duplicate")
        }
        await #expect {
            try await push.getCredentials()
        } throws: {
            if case PushError.storageFailure(let text, let cause as StoreError) = $0 {
                cause.code == code && text == "\(cause)"
            } else {
                false
            }
        }
    }

    @Test("A throwing storage of the app becomes a client error, and no data is lost")
    func appStorageThrows() async throws {
        let itemFile = ItemFile()
        let client = try await OathClient.createClient { $0.storage = AppStorage(itemFile) }
        let credential = try await client.addCredentialFromUri(Sample.hotp)
        let before = itemFile.bytes
        itemFile.setBroken(true)
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
        itemFile.setBroken(false)
        #expect(itemFile.bytes == before)
        #expect(try await client.generateCode(credential.id) == "099169")
    }

    @Test(
        "A damaged storage item is reported as corrupted and is not overwritten",
        arguments: [#"{"records":""}"#, #"{"records":"AAAA"}"#, #"{"records":"U0dCAQAAAAE="}"#, #"{"records":"U0dCCQAAAAA="}"#])
    func damagedItemIsKept(item: String) async throws {
        let itemFile = ItemFile()
        itemFile.overwrite(Data(item.utf8))
        let client = try await OathClient.createClient { $0.storage = AppStorage(itemFile) }
        for call: () async throws -> Void in [
            { _ = try await client.getCredentials() }, { try await client.addCredentialFromUri(Sample.totp) },
        ] {
            await #expect {
                try await call()
            } throws: {
                if case OathStorageError.storageCorrupted = $0 { true } else { false }
            }
        }
        #expect(itemFile.bytes == Data(item.utf8) && itemFile.saves == 0)
    }

    @Test("A client does not overwrite what another client stored in the same item: the call fails and can be retried")
    func concurrentClientsDoNotOverwrite() async throws {
        let itemFile = ItemFile()
        let (fixture, oath) = (
            try await PushClientFixture { $0.storage = AppStorage(itemFile) },
            try await OathClient.createClient { $0.storage = AppStorage(itemFile) }
        )
        // The number of reads until the item is stored; the last one checks that the item is still the one that was changed.
        let rehearsal = ItemFile()
        let other = try await OathClient.createClient { $0.storage = AppStorage(rehearsal) }
        let readBefore = rehearsal.gets
        try await other.addCredentialFromUri(Sample.totp)
        let reads = rehearsal.gets - readBefore

        itemFile.answering.close()
        let enrolling = Task { try await oath.addCredentialFromUri(Sample.totp) }
        for _ in 0..<reads - 2 { await itemFile.answering.releaseOne() }
        while itemFile.answering.waiting == 0 { await Task.yield() }
        // The client has read the item but has not received it yet; meanwhile another client stores something.
        itemFile.answering.admitNewCallers()
        try await fixture.client.setDeviceToken("token-1")
        itemFile.answering.open()
        await #expect { try await enrolling.value } throws: { error in
            guard case .storageFailure(_, let cause) = error as? OathStorageError else { return false }
            return (cause as? StoreError)?.code == .busy
        }
        #expect(try await oath.getCredentials().isEmpty)
        try await oath.addCredentialFromUri(Sample.totp)
        #expect(try await fixture.client.getDeviceToken() == "token-1")
        #expect(try await oath.getCredentials().count == 1)
    }

    @Test("Reading stores nothing, and a stored item's description hides its content")
    func readingStoresNothing() async throws {
        let itemFile = ItemFile()
        let client = try await OathClient.createClient { $0.storage = AppStorage(itemFile) }
        #expect(try await client.getCredentials().isEmpty)
        let credential = try await client.addCredentialFromUri(Sample.totp)
        _ = try await client.generateCode(credential.id)
        _ = try await client.getCredentials()
        #expect(itemFile.saves == 1)
        let item = try JSONDecoder().decode(StoredAccounts.self, from: #require(itemFile.bytes))
        var dumped = ""
        dump(item, to: &dumped)
        #expect("\(item)" == String(reflecting: item) && dumped.count < 80)
    }
}
