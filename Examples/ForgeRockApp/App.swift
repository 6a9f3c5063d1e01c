import FRAuth
import FRAuthenticator
import FRCore
import Foundation

// An app over the ForgeRock SDK for iOS, with the calls of its documents. The source names the modules of that SDK only.
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
        switch sample {
        case "enroll": return try await StorageSamples.enroll(arguments[0])
        case "accounts": return try StorageSamples.accounts()
        case "custom-storage": return try await StorageSamples.enrollInCustomStorage(arguments[0])
        case "builder": return try await StorageSamples.enrollWithBuilder(arguments[0])
        case "enroll-push": return try await PushSamples.enroll(arguments[0])
        case "message": return try await PushSamples.answer(messageId: arguments[0], data: arguments[1])
        case "deny": return try await PushSamples.deny(messageId: arguments[0], data: arguments[1])
        case "secured-key": return "\(SecuredKey.isAvailable()) \(SecuredKey(applicationTag: "com.example.app") != nil)"
        case "login": return try await LoginSamples.logIn(arguments[0])
        case "user": return try LoginSamples.user(arguments[0])
        case "second-start": return try await LoginSamples.startAgain(arguments[0])
        case "start-without-options": return try LoginSamples.startWithoutOptions()
        case "logout": return try await LoginSamples.logOut(arguments[0])
        default: throw AppError.usage
        }
    }
}

enum AppError: Error {
    case usage, notStarted, noNotification, noAnswer
}
