import Foundation

// The samples that Signet compiles and the other SDKs do not: calls in forms of the documents that the current SDKs no longer
// have, the names of the SDKs for Android, and names of Signet's own. The other apps of this folder have the calls that the SDKs
// declare.
//
//     SignetSamples SAMPLE [ARGUMENT...]    runs one sample and prints its result

@main
struct App {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            print(try await run(arguments.first ?? "", Array(arguments.dropFirst())))
        } catch {
            print("error \((error as NSError).code) \(error.localizedDescription)")
            exit(1)
        }
    }

    private static func run(_ sample: String, _ arguments: [String]) async throws -> String {
        if let line = try await runAuthenticator(sample, arguments) { return line }
        if let line = try await runLogin(sample, arguments) { return line }
        if let line = try await runStorage(sample, arguments) { return line }
        throw AppError.usage
    }

    /// Runs a sample of the ForgeRock documentation on the storage client and on push authentication.
    private static func runAuthenticator(_ sample: String, _ arguments: [String]) async throws -> String? {
        switch sample {
        case "document-storage": return try await DocumentSamples.enrollInCustomStorage(arguments[0])
        case "late-storage": return try await DocumentSamples.setStorageAfterStart()
        case "android-storage": return try await AndroidSamples.enroll(arguments[0])
        case "android-label-free-storage": return try await AndroidSamples.enrollWithoutLabels(arguments[0])
        case "android-enroll-push": return try await AndroidSamples.enrollPush(arguments[0])
        case "android-message":
            return try await AndroidSamples.answer(messageId: arguments[0], message: arguments[1], choice: "34")
        case "own-transport": return try await AndroidSamples.enrollOverOwnTransport(arguments[0])
        case "enroll-push": return try await UserPresenceSamples.enroll(arguments[0])
        case "recognized-message":
            return try await UserPresenceSamples.answer(messageId: arguments[0], data: arguments[1])
        default: return nil
        }
    }

    /// Runs a sample of the ForgeRock documentation on dynamic configuration and on token security.
    private static func runLogin(_ sample: String, _ arguments: [String]) async throws -> String? {
        switch sample {
        case "login": return try await DocumentSamples.logIn(arguments[0])
        case "user": return try DocumentSamples.user(arguments[0])
        case "logout": return try await TokenSamples.logOut(arguments[0])
        case "offline-logout": return try await TokenSamples.logOutOffline(arguments[0])
        case "end-session": return try await TokenSamples.logOutAndEndSession(arguments[0])
        case "own-store": return try await TokenSamples.logInWithOwnStore(arguments[0])
        case "call-server": return try await TokenSamples.callServer(arguments[0], server: arguments[1])
        default: return nil
        }
    }

    /// Runs a sample of the Ping documentation on storage.
    private static func runStorage(_ sample: String, _ arguments: [String]) async throws -> String? {
        switch sample {
        case "save": return await StorageSamples.save()
        case "get": return await StorageSamples.get()
        case "properties": return try await StorageSamples.saveWithProperties()
        case "custom": return try await StorageSamples.saveInCustomStorage()
        case "custom-delegate": return try await StorageSamples.saveInCustomDelegate()
        case "every-kind": return try await StorageSamples.saveInEveryKind()
        case "built-oath": return try await OathSamples.generateCode(arguments[0])
        default: return nil
        }
    }
}

enum AppError: Error {
    case usage, notStarted, noNotification, noAnswer
}
