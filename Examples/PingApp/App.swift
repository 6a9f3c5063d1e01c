import Foundation
import PingJourney
import PingLogger
import PingOath

// An app over Ping's SDK for iOS, with the calls of its documents. The source names the modules of that SDK, and what they declare
// as public, only: with another package dependency it is an app of that SDK. SignetSamples has the calls that only Signet
// compiles.
//
//     PingApp SAMPLE [ARGUMENT...]    runs one sample and prints its result

@main
struct App {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            print(try await run(arguments.first ?? "", Array(arguments.dropFirst())))
        } catch {
            print("error \(error.localizedDescription)")
            exit(1)
        }
    }

    private static func run(_ sample: String, _ arguments: [String]) async throws -> String {
        switch sample {
        case "save": return await StorageSamples.save()
        case "get": return await StorageSamples.get()
        case "cached": return try await StorageSamples.saveCached()
        case "encrypted": return try await StorageSamples.saveEncrypted()
        case "get-encrypted": return try await StorageSamples.getEncrypted()
        case "get-unencrypted": return await StorageSamples.getUnencrypted()
        case "own-encryptor": return try await StorageSamples.saveWithOwnEncryptor()
        case "cache-reads": return try await StorageSamples.countReads()
        case "custom": return try await StorageSamples.saveInCustomStorage()
        case "configured-oath": return try await OathSamples.generateCodeWithOwnStorage(arguments[0])
        case "oath": return try await OathSamples.addCredential(arguments[0])
        case "credentials": return try await OathSamples.credentials()
        case "push-token": return try await PushSamples.setDeviceToken("token-1")
        case "stored-push-token": return try await PushSamples.deviceToken()
        case "login": return try await JourneySamples.logIn(arguments[0])
        case "user": return try await JourneySamples.user(arguments[0])
        case "custom-journey-storage": return try await JourneySamples.logIn(arguments[0], inCustomStorage: true)
        default: throw AppError.usage
        }
    }
}

enum AppError: Error {
    case usage, noCredential, noUser, unexpectedNode
}
