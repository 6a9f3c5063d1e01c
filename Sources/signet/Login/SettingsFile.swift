import SignetCore
import SignetOAuth
import SignetYAML

/// The settings of a profile, from a file that the user wrote.
struct SettingsFile {
    let settings: [String: JSONValue]
    private let path: String
    /// The YAML document; nil for a JSON file.
    private let document: ProfileDocument?

    private static let maxSize = 1 << 20

    init(_ path: String) throws {
        guard let bytes = try TransferFile.contents(of: path, limit: Self.maxSize) else {
            throw Failure(.badInput, "login.settings", "\(path) is larger than \(Self.maxSize >> 20) MiB")
        }
        self.path = path
        // JSON may contain tabs, which YAML doesn't allow as indentation.
        if let settings = (try? JSON.value(of: bytes))?.object {
            (self.settings, document) = (settings, nil)
            return
        }
        do throws(ProfileError) {
            let document = try ProfileDocument(yaml: bytes)
            (settings, self.document) = (document.settings, document)
        } catch {
            throw Failure(.badInput, "login.settings", "\(path):\(error)")
        }
    }

    /// Returns the error with the file's path and the position of the setting, or nil if the position is unknown.
    func locating(_ error: ProfileError) -> (any Error)? {
        guard let document, let located = document.placing(error) else { return nil }
        var failure = Failure(located)
        failure.message = "\(path):\(failure.message)"
        return failure
    }

    /// Makes a server profile from the settings alone.
    /// - Parameter policy: The policy that decides which addresses may receive a password.
    /// - Returns: The profile.
    /// - Throws: The error of a wrong setting, with its position in the file.
    func server(policy: EndpointPolicy) throws -> ServerProfile {
        do throws(ProfileError) {
            return try ServerProfile(document: .object(settings), policy: policy)
        } catch {
            throw locating(error) ?? error
        }
    }
}
