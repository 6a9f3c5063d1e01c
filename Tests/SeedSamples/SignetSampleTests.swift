#if os(Linux)
import Foundation
import SignetCore
import TestSupport
import Testing

/// The samples that only Signet compiles, each in a process of its own on a machine that has never seen Signet, in both language
/// modes: calls in forms of the documents, the names of the SDK for Android, and types of the app's own.
@Suite("Samples that only Signet compiles, as processes with an empty home directory")
struct SignetSampleTests {
    static let apps = ["SignetSamples", "SignetSamples6"]
    private static let uri = AppProcessTests.uri

    @Test("A storage client in the forms of the documents gets everything, and no vault is made", arguments: apps)
    func storesAccountInDocumentedClients(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("document-storage", Self.uri, gives: "Harbor Bank:mira")
            try await machine.expect("android-storage", Self.uri, gives: "Harbor Bank")
            try await machine.expect("android-label-free-storage", Self.uri, gives: "Harbor Bank true")
            #expect(!machine.hasVault)
        }
    }

    @Test("A change of the storage client after the start is refused", arguments: apps)
    func refusesStorageChangeOfApp(app: String) async throws {
        try await Machine.with(app) { machine in
            let changed = try await machine.run("late-storage")
            #expect(changed.hasPrefix("error 8000000 "), "\(changed)")
        }
    }

    @Test("With the names of the SDK for Android an app answers each type of push message", arguments: apps)
    func answersPushMessagesWithAndroidNames(app: String) async throws {
        try await Machine.withPushServer(app) { machine, port in
            let mechanism = try await machine.enroll("android-enroll-push", port: port)
            let rows: [(kind: PushKind, answer: String)] = [
                (.tap, "true default no numbers Login attempt"),
                (AppProcessTests.number, "true challenge [34, 56, 82] Login attempt"),
                (.biometric, "true biometric no numbers Login attempt"),
            ]
            for (index, row) in rows.enumerated() {
                let message = try Machine.message(to: mechanism, row.kind)
                try await machine.expect("android-message", "AUTHENTICATE:\(index)", message, gives: row.answer)
            }
        }
    }

    @Test("An app whose user check recognizes the user accepts a biometric message", arguments: apps)
    func acceptsBiometricMessageOfRecognizedUser(app: String) async throws {
        try await Machine.withPushServer(app) { machine, port in
            let mechanism = try await machine.enroll("enroll-push", port: port)
            let message = try Machine.message(to: mechanism, .biometric)
            try await machine.expect("recognized-message", "AUTHENTICATE:1", message, gives: "approved")
        }
    }

    @Test("A transport of the app, written as the protocol reads, answers the requests of the SDK", arguments: apps)
    func sendsOverTransportOfApp(app: String) async throws {
        try await Machine.with(app) { machine in
            // No server listens on port 1.
            try await machine.expect("own-transport", Machine.pushURI(port: 1), gives: "Harbor Bank")
        }
    }

    @Test("An app with the document's `import Storage` saves an item, and the next process finds it", arguments: apps)
    func savesItemWithDocumentedImport(app: String) async throws {
        let lucky = "Lucky Golden Retriever"
        try await Machine.with(app) { machine in
            try await machine.expect("get", gives: "nothing")
            #expect(machine.isEmpty)
            try await machine.expect("save", gives: lucky)
            try await machine.expect("get", gives: lucky)
            #expect(machine.hasVault)
        }
    }

    @Test("The document's own storage classes save an item, and no vault is made", arguments: apps)
    func savesItemInDocumentedClasses(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("custom", gives: "Lucky")
            try await machine.expect("custom-delegate", gives: "Lucky Lucky")
            #expect(machine.isEmpty)
        }
    }

    @Test("The storages take each property of the document's tables, and stand for any storage", arguments: apps)
    func savesItemWithDocumentedProperties(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("properties", gives: "Lucky Lucky Lucky Lucky")
            try await machine.expect("every-kind", gives: "Lucky Lucky Lucky Lucky")
        }
    }

    @Test("OathClient takes the configuration that the document builds", arguments: apps)
    func makesCodesWithBuiltConfiguration(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("built-oath", Self.uri, gives: "Harbor Bank 6")
            #expect(!machine.hasVault)
        }
    }
}
#endif
