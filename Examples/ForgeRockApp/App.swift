import FRAuth
import FRAuthenticator
import FRCore
import Foundation

// An app over the ForgeRock SDK for iOS, with the calls of its documents. The source names the modules of that SDK, and what they
// declare as public, only: with another package dependency it is an app of that SDK. SignetSamples has the calls that only Signet
// compiles.
//
//     ForgeRockApp SAMPLE [ARGUMENT...]    runs one sample and prints its result

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
        throw AppError.usage
    }

    /// Runs a sample of the ForgeRock documentation on the storage client and on push authentication.
    private static func runAuthenticator(_ sample: String, _ arguments: [String]) async throws -> String? {
        switch sample {
        case "enroll": return try await StorageSamples.enroll(arguments[0])
        case "accounts": return try StorageSamples.accounts()
        case "custom-storage": return try await StorageSamples.enrollInCustomStorage(arguments[0])
        case "enroll-push": return try await PushSamples.enroll(arguments[0])
        case "message": return try await PushSamples.answer(messageId: arguments[0], data: arguments[1])
        case "deny": return try await PushSamples.deny(messageId: arguments[0], data: arguments[1])
        case "payload": return try PushSamples.payload(messageId: arguments[0], data: arguments[1])
        case "delegate-enroll": return try await AppDelegate.enroll(arguments[0])
        case "delegate-failed": return try await AppDelegate.enrollAfterFailedRegistration(arguments[0])
        case "delegate-message": return await AppDelegate.receive(messageId: arguments[0], data: arguments[1])
        case "secured-key": return "\(SecuredKey.isAvailable()) \(SecuredKey(applicationTag: "com.example.app") != nil)"
        default: return nil
        }
    }

    /// Runs a sample of the ForgeRock documentation on dynamic configuration and on token security.
    private static func runLogin(_ sample: String, _ arguments: [String]) async throws -> String? {
        switch sample {
        case "login": return try await LoginSamples.logIn(arguments[0])
        case "property-list-login": return try await LoginSamples.logInWithPropertyList()
        case "user": return try LoginSamples.user(arguments[0])
        case "second-start": return try await LoginSamples.secondStart(arguments[0])
        case "two-servers": return try await LoginSamples.useTwoServers(arguments[0], other: arguments[1])
        case "start-without-options": return try LoginSamples.startWithoutOptions()
        case "overrides": return try await LoginSamples.overrides(arguments[0])
        case "logout": return try await LoginSamples.logOut(arguments[0])
        case "recorded-logout": return try await TokenSamples.logOut(arguments[0])
        case "renew": return try await TokenSamples.renew(arguments[0])
        case "group-login": return try await TokenSamples.logInInGroup(arguments[0])
        case "group-user": return try await TokenSamples.userInGroup(arguments[0])
        default: return nil
        }
    }
}

enum AppError: Error {
    case usage, notStarted, noNotification, noAnswer
}
