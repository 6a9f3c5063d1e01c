#if canImport(Security)
import Security

/// Conversion of the keychain's status codes to ``StoreError``.
enum KeychainFailure {
    static func storeError(_ status: OSStatus, _ operation: String) -> StoreError {
        let (code, reason) = meaning(of: status)
        return StoreError(code, operation, reason, status: status)
    }

    private static func meaning(of status: OSStatus) -> (StoreError.Code, String) {
        switch status {
        case errSecItemNotFound, errSecDuplicateItem:
            // Callers handle these codes where they expect them. Elsewhere, they mean that another process changed the item
            // first.
            (.busy, "another process changed the item meanwhile; nothing was changed, try again")
        case errSecInteractionNotAllowed:
            (.keyUnavailable, "the device has not been unlocked since it was started; unlock it, then try again")
        case errSecInteractionRequired:
            (.keyUnavailable, "the system must ask the user, and cannot show a prompt now")
        case errSecNotAvailable, errSecNoSuchKeychain, errSecServiceNotAvailable:
            (.keyUnavailable, "the keychain is not available; try again after the user has logged in")
        case errSecAuthFailed: (.denied, "the user was not recognized")
        case errSecUserCanceled: (.denied, "the user canceled")
        case errSecMissingEntitlement:
            (.denied, "the app has no right to this item: it lacks the entitlement for its keychain access group")
        case errSecReadOnly, errSecWrPerm: (.denied, "the keychain allows no changes")
        case errSecDecode: (.corrupt, "the item cannot be decoded; it was left as it is")
        case errSecDiskFull: (.full, "no space is left; nothing was changed")
        case errSecDataTooLarge: (.full, "the records are too large for a keychain item; use a store in a file")
        case errSecIO: (.failed, "reading or writing the keychain failed")
        case errSecAllocate: (.failed, "no memory is left")
        case errSecParam: (.failed, "the keychain refuses the query as invalid")
        case errSecUnimplemented: (.failed, "this system's keychain does not support the operation")
        default: (.failed, "the keychain failed")
        }
    }
}

#endif
