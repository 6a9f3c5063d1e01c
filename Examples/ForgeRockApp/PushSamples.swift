import FRAuthenticator
import Foundation

/// The samples of the document on push authentication.
enum PushSamples {
    static func enroll(_ uri: String) async throws -> String {
        StorageSamples.start()
        // Upon successful registration and receiving device token from APNs, register the token to the Authenticator module
        FRAPushHandler.shared.application(
            UIApplication.shared, didRegisterForRemoteNotificationsWithDeviceToken: Data([0xAB, 0x01]))
        return try await StorageSamples.createMechanism(uri)
    }

    /// Answers a message in the way that its type needs.
    static func answer(messageId: String, data: String) async throws -> String {
        let notification = try receive(messageId, data)
        let _: Void = try await withCheckedThrowingContinuation { done in
            let successCallback: SuccessCallback = { done.resume() }
            let errorCallback: ErrorCallback = { done.resume(throwing: $0) }

            if notification.pushType == .challenge {
                notification.accept(
                    challengeResponse: "34",
                    onSuccess: successCallback,
                    onError: errorCallback
                )
            } else if notification.pushType == .biometric {
                notification.accept(
                    title: "title",
                    allowDeviceCredentials: true,
                    onSuccess: successCallback,
                    onError: errorCallback
                )
            } else {
                notification.accept(
                    onSuccess: {
                        // called when accepting the push authentication request was successful.
                        successCallback()
                    },
                    onError: { (error) in
                        // called when denying the push authentication request, or it has failed.
                        errorCallback(error)
                    })
            }
        }
        return describe(notification)
    }

    static func deny(messageId: String, data: String) async throws -> String {
        let notification = try receive(messageId, data)
        let _: Void = try await withCheckedThrowingContinuation { done in
            notification.deny(
                onSuccess: {
                    done.resume()
                },
                onError: { (error) in
                    done.resume(throwing: error)
                })
        }
        return describe(notification)
    }

    /// Reads the values of a message.
    static func payload(messageId: String, data: String) throws -> String {
        let notification = try receive(messageId, data)
        let context = try JSONSerialization.jsonObject(with: Data((notification.contextInfo ?? "{}").utf8)) as? [String: Any]
        let values = [
            notification.customPayload ?? "no payload", notification.message ?? "no message",
            // Each of the attributes can be missing.
            context?["remoteIp"] as? String ?? "no address", context?["userAgent"] as? String ?? "no user agent",
            "\(notification.pushType)", notification.numbersChallengeArray.map { "\($0)" } ?? "no numbers",
            notification.timeAdded < Date().addingTimeInterval(60) ? "sent" : "sent in the future",
        ]
        return values.joined(separator: "; ")
    }

    private static func receive(_ messageId: String, _ data: String) throws -> PushNotification {
        StorageSamples.start()
        let userInfo: [AnyHashable: Any] = ["aps": ["messageId": messageId, "data": data]]
        guard
            let notification = FRAPushHandler.shared.application(
                UIApplication.shared, didReceiveRemoteNotification: userInfo)
        else { throw AppError.noNotification }
        return notification
    }

    private static func describe(_ notification: PushNotification) -> String {
        let answer = notification.isApproved ? "approved" : notification.isDenied ? "denied" : "pending"
        return "\(answer) \(notification.message ?? "") \(notification.contextInfo ?? "")"
    }
}
