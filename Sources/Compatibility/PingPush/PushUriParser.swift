import Foundation
import SignetAuthenticator
import SignetCore

/// A reader and writer of the enrollment URIs of push credentials.
///
/// ``PushClient/addCredentialFromUri(_:)`` applies stricter rules: it needs an invitation (`m` and `c`), a secret of 32 bytes or
/// more and addresses with `https`.
public enum PushUriParser {
    /// Returns the credential that a `pushauth` or `mfauth` URI describes.
    ///
    /// The URI needs `r`, `a` and `s`. Nothing is stored and no request is sent. The text of policies that are not JSON is kept;
    /// such a credential cannot be saved.
    /// - Throws: ``PushError/invalidUri(_:)``.
    public static func parse(_ uri: String) async throws -> PushCredential {
        let values: PushURI
        do {
            values = try PushURI.parse(uri)
        } catch {
            throw PushError(error)
        }
        let id = RandomID.uuid()
        var credential = PushCredential(
            id: id, userId: values.userID, resourceId: values.resourceID, registrationEndpoint: values.registrationURL,
            authenticationEndpoint: values.authenticationURL, createdAt: SystemWallClock().now,
            platformName: PushPlatform.pingAM.rawValue,
            details: CredentialDetails(
                issuer: values.account.issuer, displayIssuer: nil, accountName: values.account.accountName,
                displayAccountName: nil, imageURL: values.imageURL, backgroundColor: values.backgroundColor,
                policies: values.policies, lock: .none),
            encodedSecret: Secret(text: values.secret.withUnsafeBytes { Base64.encode($0, as: .standard) }))
        credential.secretCoding = .included
        return credential
    }

    /// Returns the values with which a ``PushHandler`` registers the device: `messageId`, `challenge` (base64) and `amlbCookie`.
    /// - Throws: ``PushError/invalidUri(_:)`` when the URI lacks `m`, `c` or `l`, or one of them is invalid.
    public static func registrationParameters(_ uri: String) async throws -> [String: String] {
        do throws(EnrollmentError) {
            let values = try PushURI.registration(uri)
            return [
                "messageId": values.messageID, "challenge": Base64.encode(values.challenge, as: .standard),
                "amlbCookie": values.loadBalancerCookie,
            ]
        } catch {
            throw PushError(error)
        }
    }

    /// Returns a credential as a `pushauth` URI.
    ///
    /// The URI contains the shared secret: show it or draw it, but do not log it.
    /// - Throws: ``PushError/uriFormatting(_:)`` when the credential has no usable secret, or the URI would be too long.
    public static func format(_ credential: PushCredential) async throws -> String {
        guard let secret = credential.secret else {
            throw PushError.uriFormatting("the shared secret is missing or no base64")
        }
        let uri = PushURI(
            account: credential.details.account, registrationURL: credential.registrationEndpoint,
            authenticationURL: credential.authenticationEndpoint, secret: secret, userID: credential.userId,
            resourceID: credential.resourceId, imageURL: credential.imageURL, backgroundColor: credential.backgroundColor,
            policies: credential.policies
        ).text
        guard uri.utf8.count <= EnrollmentURI.maxLength else {
            throw PushError.uriFormatting("it would be longer than \(EnrollmentURI.maxLength) bytes")
        }
        return uri
    }
}
